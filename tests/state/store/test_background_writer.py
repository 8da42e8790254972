"""Jobs behind the training."""

import os
import signal
import sys
import threading
import time
import traceback

import pytest

from unisono._src.state.store import BackgroundWriter, CheckpointSeries


def test_a_job_runs_in_the_background_and_the_next_one_waits_for_it():
    writer, go, order = BackgroundWriter(), threading.Event(), []

    def first() -> None:
        go.wait(60)
        order.append("first")

    writer.start(first)
    assert writer.busy
    writer.check()
    assert writer.busy
    threading.Timer(0.05, go.set).start()
    writer.start(lambda: order.append("second"))
    assert order[0] == "first"
    writer.wait()
    assert order == ["first", "second"]
    assert not writer.busy


def test_at_most_one_job_runs_at_a_time():
    writer, running, most = BackgroundWriter(), [], []

    def job() -> None:
        running.append(1)
        most.append(len(running))
        time.sleep(0.005)
        running.pop()

    for _ in range(10):
        writer.start(job)
    writer.close()
    assert most == [1] * 10


@pytest.mark.parametrize("call", ["start", "check", "wait", "close"])
def test_an_error_is_raised_once_by_whatever_is_called_next(call):
    writer, ran = BackgroundWriter(), []

    def failing_job() -> None:
        raise ValueError("no room")

    writer.start(failing_job)
    while writer.busy:
        time.sleep(0.001)
    again = (lambda: writer.start(lambda: ran.append(1))) if call == "start" else getattr(writer, call)
    with pytest.raises(ValueError, match="no room") as caught:
        again()
    assert "failing_job" in "".join(traceback.format_exception(caught.value))
    assert ran == []
    again()
    writer.close()
    writer.close()
    assert ran == ([1] if call == "start" else [])


def test_a_writer_that_did_nothing_can_be_asked_and_closed():
    writer = BackgroundWriter()
    assert not writer.busy
    for call in (writer.check, writer.wait, writer.close, writer.close):
        call()


def test_a_closed_writer_can_be_started_again():
    writer, ran = BackgroundWriter(), []
    for number in range(2):
        writer.start(lambda number=number: ran.append(number))
        writer.close()
    assert ran == [0, 1]


def test_what_a_job_held_is_let_go_when_it_ends():
    class Large:
        gone = threading.Event()

        def __del__(self) -> None:
            self.gone.set()

    def job_with(large: Large) -> BackgroundWriter:
        writer = BackgroundWriter()
        writer.start(lambda: setattr(large, "used", True))
        return writer

    writer = job_with(Large())
    assert Large.gone.wait(60)
    writer.close()


COMMIT_LATER = """
series, writer = CheckpointSeries(Path(sys.argv[1])), BackgroundWriter()
def job():
    time.sleep(0.3)  # the main thread is past its end by then
    commit(series.path(5), arrays={"x": np.zeros(1000)}, step=5)
writer.start(job)
"""


@pytest.mark.parametrize("end", ["", "sys.exit(3)", "raise ValueError('the training failed')"])
def test_a_commit_that_was_started_is_finished_at_exit(tmp_path, child, end):
    process = child(COMMIT_LATER + end, tmp_path / "ckpt")
    _, errors = process.communicate(timeout=60)
    assert process.returncode == {"": 0, "sys.exit(3)": 3}.get(end, 1)
    assert ("the training failed" in errors) == end.startswith("raise")
    good, bad = CheckpointSeries(tmp_path / "ckpt").load_newest_good()
    assert good is not None
    assert (good.step, bad) == (5, [])


def test_a_failed_process_does_not_wait_for_ever_for_a_job_that_hangs(child):
    process = child(
        """
import unisono._src.state.store._background_writer
unisono._src.state.store._background_writer._GRACE_SECONDS = 0.2
import threading
BackgroundWriter().start(threading.Event().wait)
raise ValueError("the training failed")
"""
    )
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert errors.rstrip().endswith("ValueError: the training failed")


def test_an_error_that_was_not_raised_is_printed_at_exit(child):
    process = child("def job(): raise ValueError('no room')\nwriter = BackgroundWriter()\nwriter.start(job)")
    _, errors = process.communicate(timeout=60)
    assert "The last checkpoint was not written" in errors
    assert "ValueError: no room" in errors


def test_a_thread_that_cannot_be_started_is_not_waited_for_at_exit(child):
    process = child(
        """
import threading
def refuse(thread): raise RuntimeError("can't start new thread")
threading.Thread.start = refuse
try:
    BackgroundWriter().start(print)
except RuntimeError as error:
    print(error)
"""
    )
    assert process.communicate(timeout=60) == ("can't start new thread\n", "")


def test_an_error_that_was_raised_is_not_printed_again_at_exit(child):
    process = child(
        """
def job(): raise ValueError("no room")
writer = BackgroundWriter()
writer.start(job)
try:
    writer.wait()
except ValueError:
    pass
"""
    )
    assert process.communicate(timeout=60) == ("", "")


@pytest.mark.parametrize("call", ["wait", "close", "start"])
def test_waiting_can_be_interrupted(child, call):
    argument = "lambda: None" if call == "start" else ""
    process = child(
        f"""
import unisono._src.state.store._background_writer, threading
unisono._src.state.store._background_writer._GRACE_SECONDS = 0.2
writer = BackgroundWriter()
writer.start(threading.Event().wait)
print("waiting", flush=True)
writer.{call}({argument})
"""
    )
    assert process.stdout.readline() == "waiting\n"
    while process.poll() is None:  # the first may come before the wait has begun
        os.kill(process.pid, signal.SIGINT)
        time.sleep(0.3)
    assert "KeyboardInterrupt" in process.communicate(timeout=60)[1]


@pytest.mark.skipif(sys.platform == "win32", reason="There is no fork.")
def test_a_fork_of_the_process_does_not_wait_for_a_thread_that_it_does_not_have(child):
    process = child(
        """
import threading
go = threading.Event()
writer = BackgroundWriter()
writer.start(go.wait)
pid = os.fork()
if not pid:
    sys.exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
go.set()
"""
    )
    output, _ = process.communicate(timeout=60)
    assert output == "7\n"


def test_a_job_can_be_waited_for_with_a_limit_and_without_its_error():
    writer, go = BackgroundWriter(), threading.Event()
    assert writer.is_done_within(0)

    def failing_job() -> None:
        go.wait(60)
        raise ValueError("no room")

    writer.start(failing_job)
    assert not writer.is_done_within(0.01)
    go.set()
    assert writer.is_done_within(None)
    with pytest.raises(ValueError, match="no room"):
        writer.check()
