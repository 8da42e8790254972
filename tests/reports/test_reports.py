"""`unisono report` and `unisono watch` on folders of runs: pages, verdicts, errors."""

import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from unisono._src.cli._report import report, watch
from unisono._src.reports import describe_in_terminal, judge, make_page, read_run
from unisono._src.reports._curves import _marks
from unisono._src.reports._progress import draw_progress
from unisono._src.reports._summary import summarize
from unisono._src.reports._time_line import describe_status, list_restarts, list_run_events

NOW = 2_000.0
NO_PARTS = dict.fromkeys(["input_wait", "copy", "callbacks", "checkpoint", "validation", "compile", "other"], 0.0)


def start(time: float = 1_000.0, step: int = 0, **values: Any) -> dict[str, Any]:
    defaults = {"version": 1, "attempt": 0, "resumed": step > 0, "workers": 1, "devices": 2}
    return {"kind": "start", "fit": 1, "time": time, "epoch": step // 10, "step": step, **defaults, **values}


def epoch(number: int, time: float, parts: dict[str, float] | None = None, **values: Any) -> dict[str, Any]:
    parts = {**NO_PARTS, "compute": 8.0, **(parts or {})}
    seconds = sum(parts.values())
    metrics = {"loss": 1 / (number + 1), "val_loss": 1.5 / (number + 1)}
    line = {"kind": "epoch", "fit": 1, "time": time, "epoch": number, "step": 10 * (number + 1), "steps": 10}
    speed = {"seconds": seconds, "steps_per_second": 10 / seconds, "rows_per_second": 320 / seconds}
    return {**line, **speed, "parts": parts, "learning_rate": 0.001, "metrics": metrics, **values}


def write_run(folder: Path, lines: list[dict[str, Any]], *, events: Any = (), **fit: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    described = {"model": {"name": "m", "parameters": 1000}, "epochs": 3, "steps_per_epoch": 10, "batch": 32, **fit}
    versions = {"jax": "0.10.2", "keras": "3.15.1"}
    run = {"version": 1, "command": "python train.py", "versions": versions, "fits": {"1": described}}
    (folder / "run.json").write_text(json.dumps(run))
    if events:
        (folder / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    return folder


def end(time: float, reason: str = "finished") -> dict[str, Any]:
    return {"kind": "end", "fit": 1, "time": time, "epoch": 2, "step": 30, "reason": reason}


@pytest.fixture
def simple(tmp_path: Path) -> Path:
    lines = [start(), *(epoch(number, 1_010.0 + 10 * number) for number in range(3)), end(1_031.0)]
    return write_run(tmp_path / "simple", lines)


def test_a_page_contains_curves_facts_and_verdict_and_loads_nothing(simple: Path) -> None:
    page = make_page([read_run(simple)], NOW)
    for text in (
        "val_loss",
        "Learning rate",
        "Rows per second",
        "Time per step by part",
        "jax 0.10.2",
        "compute-bound",
    ):
        assert text in page
    assert page.count("<svg") == 5
    assert "<script" not in page
    assert not re.search(r'(?:src|href)="|url\(|@import', page)
    assert page.count("prefers-color-scheme:dark") >= 2
    assert 'name="viewport"' in page


def test_text_of_the_user_is_harmless_in_a_page_and_in_a_terminal(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>[bold]\"'&"
    line = epoch(0, 1_010.0, metrics={evil: 1.0, f"val_{evil}": 2.0})
    folder = write_run(
        tmp_path / evil.replace("/", "_"),
        [start(), line, end(1_020.0, evil)],
        model={"name": evil},
        input={"kind": evil, "explain": evil, "in_python": [{"operation": evil, "location": evil, "reason": evil}]},
        events=[{"version": 1, "time": 1_005.0, "event": "excluded", "what": evil}],
    )
    run = read_run(folder)
    page = make_page([run, run], NOW)
    assert "<script" not in page
    assert page.count("&lt;script&gt;") > 5
    console = Console(width=100, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(describe_in_terminal(run, NOW))
    console.file.close()
    assert "<script>alert(1)</script>[bold]" in console.export_text()


@pytest.mark.parametrize(
    ("part", "share", "title", "remedy"),
    [
        ("input_wait", 0.38, "input-bound", "prefetch"),
        ("copy", 0.2, "copy-bound", "uint8"),
        ("compile", 0.5, "compile-bound", "JAX_COMPILATION_CACHE_DIR"),
        ("checkpoint", 0.1, "checkpoint-bound", "EverySeconds"),
        ("callbacks", 0.3, "callback-bound", "on_epoch_end"),
        ("validation", 0.5, "validation-bound", "validation_freq"),
        ("other", 0.4, "host-bound", "Python between the steps"),
    ],
)
def test_the_verdict_names_the_part_its_share_and_a_remedy(
    part: str, share: float, title: str, remedy: str, tmp_path: Path
) -> None:
    parts = {"compute": 100 * (1 - share), part: 100 * share}
    verdict = judge(read_run(write_run(tmp_path, [start(), epoch(0, 1_100.0, parts)])).main_fit)[0]
    assert verdict.title == title
    assert f"{share:.0%} of the time" in verdict.text
    assert remedy in verdict.text


def test_an_input_bound_run_names_the_map_its_line_and_the_reason(tmp_path: Path) -> None:
    operation = {"operation": "map(decode)", "location": "train.py:41", "reason": "it calls int() on a traced value"}
    lines = [start(), epoch(0, 1_100.0, {"compute": 62.0, "input_wait": 38.0})]
    folder = write_run(tmp_path, lines, input={"kind": "Dataset", "explain": "…", "in_python": [operation]})
    text = judge(read_run(folder).main_fit)[0].text
    assert text.startswith(
        "38% of the time waits for map(decode) in train.py:41; it runs in Python because: it calls int()"
    )


@pytest.mark.parametrize(
    ("given", "remedy", "other"),
    [
        ({"kind": "arrays"}, "batch_size that divides", "drop_remainder"),
        ({"kind": "Dataset", "explain": "…"}, "drop_remainder=True", "divides"),
        ({"kind": "PyDataset"}, "all batches one shape", "drop_remainder"),
    ],
)
def test_the_remedy_for_compilation_fits_the_input(given: Any, remedy: str, other: str, tmp_path: Path) -> None:
    lines = [start(), epoch(0, 1_100.0, {"compute": 50.0, "compile": 50.0})]
    text = judge(read_run(write_run(tmp_path, lines, input=given)).main_fit)[0].text
    assert remedy in text
    assert other not in text


def test_below_the_thresholds_a_run_is_compute_bound_and_says_where_the_all_reduce_is(tmp_path: Path) -> None:
    lines = [start(), epoch(0, 1_100.0, {"compute": 92.0, "input_wait": 8.0})]
    verdict = judge(read_run(write_run(tmp_path, lines)).main_fit)[0]
    assert verdict.title == "compute-bound"
    assert "all-reduce of 2 devices" in verdict.text


def test_a_page_says_why_the_exchange_of_devices_is_no_part_of_the_time(tmp_path: Path) -> None:
    waiting = [epoch(0, 1_100.0, {"compute": 60.0, "input_wait": 40.0})]
    page = make_page([read_run(write_run(tmp_path / "two", [start(), *waiting]))], NOW)
    assert "Compute includes what the 2 devices exchange" in page
    assert "<code>unisono plan</code> estimates it" in page
    alone = make_page([read_run(write_run(tmp_path / "one", [start(devices=1), *waiting]))], NOW)
    assert "unisono plan" not in alone


def test_what_a_resumed_run_did_again_replaces_what_was_lost(tmp_path: Path) -> None:
    lines = [start(), *(epoch(number, 1_010.0 + number) for number in range(3)), start(1_020.0, step=10, attempt=1)]
    again = [epoch(1, 1_030.0, metrics={"loss": 0.4}), epoch(2, 1_040.0, metrics={"loss": 0.3}), end(1_041.0)]
    killed = {"version": 1, "time": 1_015.0, "event": "failed", "attempt": 0, "code": 69}
    cause = "worker 1 was killed by SIGKILL at step 30 (fit)"
    folder = write_run(tmp_path, [*lines, *again], events=[{**killed, "cause": cause}])
    run = read_run(folder)
    assert [line["time"] for line in run.main_fit.epochs] == [1_010.0, 1_030.0, 1_040.0]
    assert len(run.main_fit.superseded) == 2
    (restart,) = list_restarts(run)
    assert restart.text == f"{cause}; continues from step 10 on 2 devices, 5 s later"
    page = make_page([run], NOW)
    assert cause in page
    assert "lost, and computed again" in page
    assert [each.kind for each in list_run_events(run)] == ["start", "restart", "end"]


def read_lines_of(chart: str) -> list[list[str]]:
    """The points of each line in the plot, without those of the legend."""
    paths = re.findall(r'<path class="line c\d" d="([^"h]*)"', chart)
    return [re.findall(r"[ML][\d.]+ [\d.]+", path) for path in paths]


def test_lost_steps_leave_the_line_and_the_attempts_have_a_gap_between_them(tmp_path: Path) -> None:
    lost = {**epoch(1, 1_012.0), "kind": "steps", "step": 12, "steps": 2}
    lines = [start(), epoch(0, 1_010.0), lost, start(1_020.0, step=11), epoch(1, 1_030.0), end(1_031.0)]
    kept, again = read_lines_of(draw_progress(read_run(write_run(tmp_path, lines))))
    assert [point[0] for point in kept] == ["M", "L", "M", "L"]
    assert again[0] == "M" + kept[1][1:]  # one lost step is a line from the last one that was kept, not a dot
    assert len(again) == 2


def test_the_cause_of_a_restart_is_shown_in_full_and_above_the_plot(tmp_path: Path) -> None:
    cause = "worker 1 on host-with-a-long-name-07.example.org was killed by SIGKILL at step 110 (fit)"
    killed = {"version": 1, "time": 1_015.0, "event": "failed", "attempt": 0, "code": 69, "cause": cause}
    lines = [start(), epoch(0, 1_010.0), start(1_020.0, step=10), epoch(1, 1_030.0), end(1_031.0)]
    chart = draw_progress(read_run(write_run(tmp_path, lines, events=[killed])))
    texts = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)', chart)
    assert f"restart: {cause}" in " ".join(text for _, _, text in texts)
    top = float(re.findall(r'<path class="mark" d="M[\d.]+ ([\d.]+)V', chart)[0])
    assert all(float(y) < top for _, y, text in texts if text in cause and len(text) > 5)


def test_a_restart_is_drawn_in_its_epoch_also_after_initial_epoch(tmp_path: Path) -> None:
    lines = [start(), epoch(5, 1_010.0, step=10), start(1_020.0, step=10), epoch(6, 1_030.0, step=20), end(1_031.0)]
    run = read_run(write_run(tmp_path, lines))
    assert [mark.x for mark in _marks(run, run.main_fit)] == [6.0]


def test_a_preemption_without_a_launcher_is_distinguished_from_a_kill(tmp_path: Path) -> None:
    lines = [start(), end(1_010.0, "preempted"), start(1_020.0, step=10), start(1_030.0, step=20)]
    assert [each.kind for each in list_restarts(read_run(write_run(tmp_path, lines)))] == ["preemption", "restart"]


def test_half_a_line_is_skipped(simple: Path) -> None:
    with (simple / "metrics.jsonl").open("a") as file:
        file.write('{"kind":"epoch","fit":1,"ep')
    assert len(read_run(simple).main_fit.epochs) == 3


def test_a_run_without_an_end_is_running_until_it_is_silent_for_long(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path, [start(), epoch(0, 1_010.0)]))
    assert describe_status(run, 1_020.0) == "running"
    assert describe_status(run, 9_000.0).startswith("no line for 2 h")


def test_one_long_epoch_is_shown_by_its_steps(tmp_path: Path) -> None:
    within = [{**epoch(0, 1_000.0 + n, metrics={"loss": 1 / n}), "kind": "steps", "step": n} for n in range(1, 5)]
    run = read_run(write_run(tmp_path, [start(), *within]))
    assert run.main_fit.lines == run.main_fit.intervals
    assert ">step</text>" in make_page([run], NOW)


def test_a_loss_of_a_step_that_is_not_finite_is_said(tmp_path: Path) -> None:
    within = [{**epoch(0, 1_000.0 + n, metrics={"loss": "Infinity"}), "kind": "steps", "step": n} for n in (1, 2)]
    verdicts = judge(read_run(write_run(tmp_path, [start(), *within])).main_fit)
    assert any("loss is not finite since step 1" in verdict.text for verdict in verdicts)


def test_values_that_are_not_finite_do_not_choose_the_scale(tmp_path: Path) -> None:
    losses = [{"loss": value} for value in (1.0, "Infinity", 2.0)]
    lines = [start(), *(epoch(number, 1_010.0 + number, metrics=loss) for number, loss in enumerate(losses))]
    page = make_page([read_run(write_run(tmp_path, lines))], NOW)
    assert ">1.5</text>" in page  # a logarithmic axis from 1 to 2 would have no such tick


def test_a_loss_that_is_not_finite_is_said(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path, [start(), epoch(0, 1_010.0), epoch(1, 1_020.0, metrics={"loss": "NaN"})]))
    assert any(verdict.title == "not finite" and "epoch 2" in verdict.text for verdict in judge(run.main_fit))
    make_page([run], NOW)


def test_several_runs_are_compared_in_one_page(
    simple: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = write_run(tmp_path / "other", [start(), epoch(0, 1_010.0)])
    assert report([str(simple), str(other), "-o", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text()
    assert capsys.readouterr().out.strip() == str(tmp_path / "page.html")
    assert "2 runs" in page
    assert "simple: loss" in page
    assert "other: val_loss" in page


def test_runs_of_one_name_are_distinguished_by_their_paths(tmp_path: Path) -> None:
    lines = [start(), epoch(0, 1_010.0), end(1_011.0)]
    runs = [read_run(write_run(tmp_path / parent / "run", lines)) for parent in ("small", "large")]
    page = make_page(runs, NOW)
    for run in runs:
        assert f"<th>{run.path}</th>" in page


def test_a_run_by_steps_and_one_by_epochs_share_an_axis_of_steps(simple: Path, tmp_path: Path) -> None:
    within = [{**epoch(0, 1_000.0 + n, metrics={"loss": 1 / n}), "kind": "steps", "step": n} for n in range(1, 5)]
    page = make_page([read_run(simple), read_run(write_run(tmp_path / "long", [start(), *within]))], NOW)
    side_by_side = page.partition("Side by side")[2].partition("</svg>")[0]
    assert ">step</text>" in side_by_side
    assert "loss: 0.33333 at 30" in side_by_side  # the third epoch of the first run


def test_a_script_with_hundreds_of_fits_has_a_short_page(tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = []
    for number in range(1, 301):
        begin = 1_000.0 + 3 * number
        lines += [start(begin), epoch(0, begin + 1), end(begin + 2)]
        for line in lines[-3:]:
            line["fit"] = number
    page = make_page([read_run(write_run(tmp_path, lines))], NOW)
    assert "560 starts and ends of fit in between are in metrics.jsonl" in page
    assert "of the first 8 of 300 calls of fit" in page
    assert page.count("<tr>") < 100


@pytest.mark.full
def test_a_hundred_thousand_lines_make_a_small_page(tmp_path: Path) -> None:
    lines = [start(), *(epoch(number, 1_000.0 + number) for number in range(100_000))]
    assert len(make_page([read_run(write_run(tmp_path, lines))], NOW)) < 500_000


def test_a_run_of_one_step_has_a_page(tmp_path: Path) -> None:
    line = {**epoch(0, 1_000.1), "step": 1, "steps": 1}
    page = make_page([read_run(write_run(tmp_path, [start(), line, end(1_000.2)], steps_per_epoch=1))], NOW)
    assert "1 of 3" in page
    assert "NaN" not in page


def test_lines_of_other_tools_and_broken_descriptions_are_left_out(simple: Path) -> None:
    with (simple / "metrics.jsonl").open("a") as file:
        file.write('{"loss": 0.5, "step": 3}\n{"kind":"epoch","fit":"x","time":1,"epoch":0,"step":1}\n')
        file.write('{"kind":"epoch","fit":1,"time":NaN,"epoch":0,"step":1}\n' + "[" * 100_000 + "\n")
        file.write('{"kind":"epoch","fit":1,"time":1,"epoch":0,"step":1,"metrics":null}\n')
    (simple / "run.json").write_text('{"version":1,"fits":{"1":[]},"devices":3,"mesh":"x","versions":null}')
    run = read_run(simple)
    assert len(run.main_fit.epochs) == 3
    page = make_page([run], NOW)
    assert "<th>strategy</th>" not in page


@pytest.mark.parametrize("wrong", [None, "x", "NaN", "Infinity", [], ["x"], {"a": 1}, -1, 1e300, 10**400], ids=type)
@pytest.mark.parametrize("name", ["devices", "steps", "seconds", "rows_per_second", "learning_rate", "input_wait"])
def test_a_value_that_is_no_number_does_not_hide_the_rest(name: str, wrong: Any, tmp_path: Path) -> None:
    lines: list[Any] = [start(), epoch(0, 1_010.0, {"input_wait": 8.0}), epoch(1, 1_020.0), start(1_030.0, step=20)]
    for line in lines:
        (line.get("parts", {}) if name == "input_wait" else line)[name] = wrong
    given = {"kind": "Dataset", "in_python": wrong}
    run = read_run(write_run(tmp_path, lines, epochs=wrong, steps_per_epoch=wrong, batch=wrong, input=given))
    assert "val_loss" in make_page([run, run], NOW)
    Console(width=100, file=io.StringIO()).print(describe_in_terminal(run, NOW))


@pytest.mark.parametrize("time", [None, "x", "NaN", -1.0, 1e18, 10**400])
def test_an_event_or_a_line_without_a_time_is_left_out(time: Any, simple: Path) -> None:
    (simple / "events.jsonl").write_text(json.dumps({"version": 1, "time": time, "event": "end", "code": 1}) + "\n")
    with (simple / "metrics.jsonl").open("a") as file:
        file.write(json.dumps({**epoch(3, 1_050.0), "time": time}) + "\n")
    run = read_run(simple)
    assert (run.events, len(run.main_fit.epochs)) == ([], 3)
    make_page([run], NOW)


def test_a_folder_that_may_not_be_looked_at_is_one_clear_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert report(["x" * 300]) == 2  # for root, every folder may be; another error of the system stands for it
    assert "cannot be read: File name too long" in capsys.readouterr().err


def test_a_line_that_is_nested_too_deeply_is_skipped(simple: Path) -> None:
    with (simple / "metrics.jsonl").open("a") as file:
        file.write('{"fit":1,"x":' + "[" * 900 + '"\\u0007"' + "]" * 900 + "}\n")
    assert len(read_run(simple).main_fit.epochs) == 3


def test_control_characters_that_are_not_escaped_are_replaced_too(tmp_path: Path) -> None:
    folder = write_run(tmp_path, [start(), epoch(0, 1_010.0), end(1_011.0, "loss\x9b2J")])
    text = (folder / "metrics.jsonl").read_text()
    (folder / "metrics.jsonl").write_text(text.replace("\\u009b", "\x9b"), encoding="utf-8")
    assert describe_status(read_run(folder), NOW) == "loss\N{REPLACEMENT CHARACTER}2J"


def test_the_status_is_that_of_the_fit_that_was_started_last(tmp_path: Path) -> None:
    second = [{**line, "fit": 2} for line in (start(1_100.0), epoch(0, 1_110.0), end(1_120.0))]
    again = start(1_200.0, step=30)  # the script is started again, with more epochs
    run = read_run(write_run(tmp_path, [start(), epoch(0, 1_010.0), end(1_020.0), *second, again]))
    assert run.last_fit.number == 1
    assert describe_status(run, 1_210.0) == "running"


def test_a_failure_that_restarts_two_fits_is_one_restart(tmp_path: Path) -> None:
    second = {**start(1_100.0), "fit": 2}
    failed = {"version": 1, "time": 1_200.0, "event": "failed", "attempt": 0, "code": 1, "cause": "killed"}
    again = [start(1_210.0), epoch(0, 1_220.0), end(1_230.0), {**start(1_240.0), "fit": 2}]
    lines = [start(), epoch(0, 1_010.0), end(1_020.0), second, *again]
    run = read_run(write_run(tmp_path, lines, events=[failed]))
    assert summarize(run, NOW)["restarts"] == "1"


def test_a_finished_run_that_gets_more_epochs_was_not_restarted(tmp_path: Path) -> None:
    lines = [start(), epoch(0, 1_010.0), end(1_020.0), start(2_000.0, step=10), epoch(1, 2_010.0), end(2_011.0)]
    run = read_run(write_run(tmp_path, lines))
    assert "restarts" not in summarize(run, NOW)
    assert [each.kind for each in list_run_events(run)] == ["start", "end", "start", "end"]


def test_a_metric_has_the_name_of_another_figure(tmp_path: Path) -> None:
    lines = [start(), epoch(0, 1_010.0, metrics={"step": 0.25, "loss": 1.0}), end(1_011.0)]
    summary = summarize(read_run(write_run(tmp_path, lines)), NOW)
    assert (summary["step"], summary["metric step"], summary["loss"]) == ("10", "0.25", "1")


def test_control_characters_and_half_letters_reach_neither_page_nor_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evil = "loss\x1b[2J\x07\ud800"
    folder = write_run(tmp_path / "run", [start(), epoch(0, 1_010.0, metrics={evil: 1.0}), end(1_011.0, evil)])
    assert report([str(folder)]) == 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert watch([str(folder), "--once"]) == 0
    for text in (page, capsys.readouterr().out):
        assert "loss\N{REPLACEMENT CHARACTER}[2J" in text
        assert "\x07" not in text


def test_the_page_is_written_into_the_folder_of_the_run(simple: Path) -> None:
    assert report([str(simple)]) == 0
    assert (simple / "report.html").read_text().startswith("<!doctype html>")


@pytest.mark.parametrize("command", [report, lambda arguments: watch([*arguments, "--once"])])
@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (lambda path: None, "no such folder"),
        (lambda path: path.mkdir(), "is not the folder of a run"),
        (lambda path: write_run(path, []), "no training is recorded there yet"),
        (
            lambda path: write_run(path, [start(version=99)]),
            "format version 99, and this Unisono reads up to version 1",
        ),
        (lambda path: (write_run(path, [start()]), (path / "run.json").write_text('{"version":7}')), "version 7"),
        (lambda path: (path / "metrics.jsonl").mkdir(parents=True), "metrics.jsonl cannot be read: Is a directory"),
        (lambda path: (path.mkdir(), (path / "metrics.jsonl").write_bytes(b"\xff\x00{")), "no training is recorded"),
    ],
)
def test_a_folder_that_cannot_be_shown_is_one_clear_sentence(
    command: Any, prepare: Any, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prepare(tmp_path / "run")
    assert command([str(tmp_path / "run")]) == 2
    assert message in capsys.readouterr().err


def test_watch_prints_one_frame_with_metrics_parts_and_verdict(
    simple: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert watch([str(simple), "--once"]) == 0
    frame = capsys.readouterr().out
    for text in ("finished", "val_loss", "best seen", "compute-bound", "rows/s", "starts on 2 devices"):
        assert text in frame


@pytest.mark.slow
def test_watch_ends_cleanly_with_ctrl_c(simple: Path) -> None:
    program = (
        "import _thread, sys, threading; from unisono._src.cli._report import watch; "
        "threading.Timer(1.0, _thread.interrupt_main).start(); sys.exit(watch([sys.argv[1], '--interval', '0.2']))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, str(simple)], capture_output=True, text=True, timeout=120, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "compute-bound" in ended.stdout
