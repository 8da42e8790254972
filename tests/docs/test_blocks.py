"""The test of pages notices what is wrong on a page."""

from pathlib import Path

import pytest

from tests.docs.commands import commands, inline_commands, problem, problem_inline
from tests.docs.page import PageError, read_blocks
from tests.docs.run_page import BlockError, run_page


def _page(tmp_path: Path, text: str) -> Path:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    return page


def _run(tmp_path: Path, text: str, *, full: bool = False) -> int:
    folder = tmp_path / "folder"
    folder.mkdir(exist_ok=True)
    return run_page(_page(tmp_path, text), folder, full=full)


def test_blocks_share_a_namespace_and_have_their_setup(tmp_path: Path) -> None:
    text = "<!-- setup: x = 1 -->\n```python\ny = x + 1\n```\nText.\n```python\nprint(x + y)\n```\n\n```text\n3\n```\n"
    assert _run(tmp_path, text) == 2


def test_a_setup_may_have_several_lines(tmp_path: Path) -> None:
    assert _run(tmp_path, "<!-- setup:\nx = 1\n\nif x:\n    y = 2\n-->\n\n```python\nassert y == 2\n```\n") == 1


def test_a_block_that_fails_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(BlockError, match=r"page.md:4: the block failed:(.|\n)*page.md\", line 5(.|\n)*NameError"):
        _run(tmp_path, "# Title\n\n```python\nx = 1\nmissing\n```\n")


def test_a_block_that_should_fail_must_fail(tmp_path: Path) -> None:
    shown = "```text\nZeroDivisionError: division by zero\n```\n"
    assert _run(tmp_path, "<!-- fails -->\n```python\n1 / 0\n```\n" + shown) == 1
    with pytest.raises(BlockError, match="raised nothing"):
        _run(tmp_path, "<!-- fails -->\n```python\n1 / 1\n```\n" + shown)


@pytest.mark.full
def test_other_words_than_the_page_shows_are_noticed(tmp_path: Path) -> None:
    block = "```python\nprint('loss 0.25')\nprint('saved 3')\n```\n"
    assert _run(tmp_path, block + "```text\nloss 0.31\n…\nsaved 4\n```\n") == 1
    with pytest.raises(BlockError, match=r"not printed:\nloss 0\.25"):  # not in this order
        _run(tmp_path, block + "```text\nsaved 3\nloss 0.25\n```\n")


@pytest.mark.full
def test_text_further_below_is_output_only_if_it_says_so(tmp_path: Path) -> None:
    block = "```python\nprint('one')\n```\nIt prints:\n"
    assert _run(tmp_path, block + "```text\ntwo\n```\n") == 1
    with pytest.raises(BlockError, match="two"):
        _run(tmp_path, block + "<!-- output -->\n```text\ntwo\n```\n")


@pytest.mark.full
def test_doctests_of_a_page_are_run(tmp_path: Path) -> None:
    assert _run(tmp_path, "```python\nx = 2\n```\n```python\n>>> x\n2\n```\n") == 2
    with pytest.raises(BlockError, match=r"Got:\n *2"):
        _run(tmp_path, "```python\nx = 2\n```\n```python\n>>> x\n3\n```\n")


@pytest.mark.full
def test_commands_run_in_the_folder_of_the_page_with_its_files(tmp_path: Path) -> None:
    file = "<!-- file: hello.py -->\n```python\nprint('hello')\n```\n"
    assert (
        _run(tmp_path, file + "```bash\npython hello.py > out.txt\n```\n```console\n$ cat out.txt\nhello\n```\n") == 2
    )
    with pytest.raises(BlockError, match="not printed:\ngoodbye"):
        _run(tmp_path, file + "```console\n$ python hello.py\ngoodbye\n```\n")


def test_a_command_that_fails_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(BlockError, match="exit code 3"):
        _run(tmp_path, "```bash\ntrue\n(exit 3)\ntrue\n```\n")
    assert _run(tmp_path, "<!-- fails -->\n```bash\n(exit 3)\n```\n") == 1


@pytest.mark.full
def test_blocks_that_are_not_run_and_long_ones_are_left_out(tmp_path: Path) -> None:
    text = "<!-- not run: needs a GPU -->\n```python\n1 / 0\n```\n<!-- full -->\n```python\nx = 1\n```\n"
    assert _run(tmp_path, text) == 0
    assert _run(tmp_path, text, full=True) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("```\nunisono doctor\n```\n", "needs a language"),
        ("<!-- not run -->\n```bash\nmake\n```\n", "say why"),
        ("<!-- notrun: x -->\n```bash\nmake\n```\n", "begins with none of"),
        ("```python\nx = 1\n", "has no end"),
        ("```{code-block} python\nx\n```\n", "plain fence"),
    ],
)
def test_a_page_that_cannot_be_read_says_what_to_write(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(PageError, match=message):
        read_blocks(_page(tmp_path, text))


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("unisono run -n 4 --device cpu:2 train.py", "Did you mean --devices"),
        ("srun unisono run --nodes 2 train.py", "unrecognized"),
        ("unisono run --on slrum train.py", "the engines are"),
        ("unisono run --on slurm -N 2 --gpu-per-node 8 train.py", "--gpus-per-node"),
        ("unisono doctor --jsno", "unrecognized"),
        ("unisono trian", "invalid choice"),
        ("make tset", "no target tset"),
        ("make bench-data bench-page", None),
        ('X=1 pip install "unisono[gpu,ray]"', "no extra gpu"),
        ("unisono run -n 4 train.py --device 3 | tee log", None),
        ("make test ARGS='-k name' && ls", None),
        ("ls --nothing-of-ours", None),
    ],
)
def test_a_command_with_a_renamed_option_is_noticed(tmp_path: Path, command: str, message: str | None) -> None:
    (block,) = read_blocks(_page(tmp_path, f"```bash\n{command}\n```\n"))
    found = [what for words in commands(block) if (what := problem(words))]
    assert len(found) == (message is not None), found
    assert message is None or message in found[0]


def test_options_in_the_text_are_checked_and_placeholders_are_not() -> None:
    text = "Type `unisono run --grace N`, `unisono run --gracious 3` or `make nothing`.\n```bash\nmake x\n```\n"
    found = {command: problem_inline(command) for command in inline_commands(text)}
    assert found == {
        "unisono run --grace N": None,
        "unisono run --gracious 3": "unknown option: --gracious",
        "make nothing": "the Makefile has no target nothing",
    }
