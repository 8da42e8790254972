import importlib
import json
import threading

import pytest

from unisono_launch.doctor import Finding, _main
from unisono_launch.doctor._report import findings_to_json, show_findings, verdict, wrap_lines
from unisono_launch.doctor._run_check import run_check

FINE = Finding("machine", "ok", "2 cores")
DOUBT = Finding("datasets", "warning", "nothing there", "export UNISONO_DATASETS=F")
WRONG = Finding("ports", "error", "Port [2222] is taken.\nBy another.", "ss -ltnp " + 40 * "long ", {"port": 2222})


def test_what_is_not_ok_has_a_remedy() -> None:
    with pytest.raises(ValueError, match="without a remedy"):
        Finding("ports", "error", "Port 2222 is taken.")


def test_json_has_every_finding_by_name() -> None:
    report = json.loads(findings_to_json([FINE, WRONG]))
    assert report["status"] == "error"
    assert report["findings"]["machine"] == {"status": "ok", "text": "2 cores", "remedy": None, "facts": {}}
    assert report["findings"]["ports"]["facts"] == {"port": 2222}


def test_people_see_status_name_text_and_a_remedy_in_one_piece(capsys: pytest.CaptureFixture[str]) -> None:
    show_findings([FINE, DOUBT, WRONG])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "ok       machine     2 cores"
    assert lines[1] == "warning  datasets    nothing there"
    assert lines[3] == "error    ports       Port [2222] is taken."
    assert lines[4] == "                     By another."
    assert lines[5].strip() == f"→  {WRONG.remedy}".strip()
    assert lines[-1] == "Training would fail. 1 error: ports. 1 warning: datasets."


def test_long_lines_are_wrapped_beside_the_names() -> None:
    lines = wrap_lines("word " * 40 + "\nnext", 80)
    assert max(map(len, lines)) <= 59
    assert lines[-1] == "next"


def test_warnings_alone_let_training_work() -> None:
    assert verdict([FINE, DOUBT]) == "Training works here. 1 warning: datasets."


@pytest.mark.parametrize(("findings", "code"), [([FINE], 0), ([FINE, DOUBT], 0), ([DOUBT, WRONG], 1)])
@pytest.mark.parametrize("words", [[], ["--json"]])
def test_the_exit_code_says_whether_training_would_fail(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], findings, code: int, words: list[str]
) -> None:
    monkeypatch.setattr(_main, "run_checks", lambda environ: iter(findings))
    assert _main.main(words) == code
    assert capsys.readouterr().out


def test_without_rich_the_findings_are_printed_as_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(_main, "run_checks", lambda environ: iter([FINE]))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert _main.main([]) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "ok"


def test_a_check_that_crashes_is_an_error_of_its_name() -> None:
    def crash() -> Finding:
        raise ZeroDivisionError("by nothing")

    found = run_check("machine", crash)
    assert (found.name, found.status) == ("machine", "error")
    assert found.text == "The check crashed: ZeroDivisionError: by nothing"


def test_a_check_that_hangs_is_given_up() -> None:
    released = threading.Event()
    found = run_check("datasets", lambda: released.wait(30) and FINE, seconds=0.1)
    released.set()
    assert found.status == "error"
    assert "did not end within 0.1 seconds" in found.text
