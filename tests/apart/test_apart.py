"""An object in a process of its own answers, fails, asks and ends as it should, whatever becomes of the process."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.apart.things import Broken, Thing

from libravdb_memory import errors
from libravdb_memory.apart import Apart, NoProcessError, process
from libravdb_memory.apart.frames import Pipe
from libravdb_memory.errors import CallCancelledError, EngineError, ProcessLostError, TextRefusedError


def never() -> bool:
    return False


@pytest.fixture
def apart() -> Iterator[Apart]:
    made = Apart(Thing, lambda question: f"told {question}")
    yield made
    made.close()


def test_a_method_answers_from_another_process(apart: Apart) -> None:
    assert apart.pid is None
    assert apart.call("double", "ab", cancelled=never) == "abab"
    assert apart.call("pid", cancelled=never) == apart.pid != os.getpid()


def test_what_a_method_raises_is_raised_here_with_its_facts(apart: Apart) -> None:
    with pytest.raises(TextRefusedError) as refused:
        apart.call("refuse", cancelled=never)
    assert (refused.value.model, refused.value.reason) == ("a model", "a reason")
    with pytest.raises(EngineError, match="that no other process knows"):
        apart.call("unknown", cancelled=never)
    with pytest.raises(Exception, match="pickle"):
        apart.call("unsendable", cancelled=never)
    assert apart.call("double", 2, cancelled=never) == 4


def test_calls_run_beside_each_other_and_one_alone_is_given_up(apart: Apart) -> None:
    stop = threading.Event()
    outcome: list[BaseException] = []

    def wait() -> None:
        try:
            apart.call("wait", cancelled=stop.is_set)
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    assert apart.call("double", 3, cancelled=never) == 6
    stop.set()
    thread.join(30)
    assert isinstance(outcome[0], CallCancelledError)


def test_one_that_does_not_mind_being_given_up_is_ended_and_not_begun_again(
    apart: Apart, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(process, "_GRACE_S", 0.1)
    note = tmp_path / "note"
    with pytest.raises(CallCancelledError):
        apart.call("never_end", str(note), cancelled=note.exists)
    assert note.read_text() == "begun\n"
    assert apart.call("double", 2, cancelled=never) == 4


@pytest.mark.skipif(os.name != "posix", reason="there are no such groups here")
def test_a_terminal_interrupts_it_at_no_time(apart: Apart) -> None:
    assert os.getpgid(apart.call("pid", cancelled=never)) != os.getpgid(0)


def test_the_object_may_ask_back(apart: Apart) -> None:
    assert apart.call("asked", "why", cancelled=never) == "told why"


def test_who_has_no_patience_goes_on_and_what_is_asked_too_late_is_not_answered(apart: Apart, tmp_path: Path) -> None:
    note = tmp_path / "note"
    with pytest.raises(TimeoutError):
        apart.call("ask_when_given_up", str(note), cancelled=never, patience_s=0.1)
    patience = time.monotonic() + 30
    while not note.exists() and time.monotonic() < patience:
        threading.Event().wait(0.01)
    assert note.exists()
    assert apart.call("double", 2, cancelled=never) == 4


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="a process cannot be stopped here")
def test_one_that_reads_nothing_holds_up_nobody(apart: Apart) -> None:
    pid = apart.call("pid", cancelled=never)
    os.kill(pid, signal.SIGSTOP)
    more_than_a_pipe_holds = "x" * 1_000_000
    for _ in range(2):
        with pytest.raises(TimeoutError):
            apart.call("double", more_than_a_pipe_holds, cancelled=never, patience_s=0.1)
    apart.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_one_that_says_something_else_than_answers_is_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('welcome to this machine')")
    monkeypatch.syspath_prepend(tmp_path)
    noisy = Apart(Thing, print)
    with pytest.raises(NoProcessError):
        noisy.call("pid", cancelled=never)
    noisy.close()
    assert "no answer" in caplog.text


def test_what_is_no_folder_s_name_among_those_of_modules_is_left_out(
    apart: Apart, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "queue.py").write_text("raise SystemExit('this is no module of ours')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path, tmp_path])
    assert apart.call("double", 2, cancelled=never) == 4


def test_who_closes_it_while_it_starts_is_not_told_that_there_can_be_none() -> None:
    starting = Apart(Thing, print)
    outcome: list[BaseException] = []

    def call() -> None:
        try:
            starting.call("wait", cancelled=never)
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    while starting.pid is None:
        threading.Event().wait(0.001)
    starting.close()
    thread.join(30)
    assert isinstance(outcome[0], CallCancelledError)


def test_a_call_for_which_no_thread_can_be_had_is_refused_alone_and_not_done_later(tmp_path: Path) -> None:
    note = str(tmp_path / "note")

    def answer(question: str) -> str:
        with pytest.raises(NoProcessError, match="no thread for it: can't start new thread"):
            scarce.call("note", note, cancelled=never, patience_s=30)
        return f"told {question}"

    scarce = Apart(Thing, answer)
    assert scarce.call("asked_without_threads", "why", cancelled=never, patience_s=60) == "told why"
    assert [scarce.call("is_noted", note, cancelled=never) for _ in range(3)] == [False] * 3
    scarce.close()


@pytest.mark.parametrize("trouble", ["read_nothing_more_once", "say_nothing_more_once"])
def test_one_that_runs_but_can_read_or_answer_no_more_is_not_waited_for(
    apart: Apart, tmp_path: Path, trouble: str
) -> None:
    first = apart.call("pid", cancelled=never)
    assert apart.call(trouble, str(tmp_path / "note"), cancelled=never, patience_s=60) == "alive"
    assert apart.pid != first


def test_one_to_which_nothing_more_can_be_written_is_not_waited_for(
    apart: Apart, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = apart.call("pid", cancelled=never)
    write = Pipe.write

    def refused(pipe: Pipe, raw: bytes) -> None:
        monkeypatch.setattr(Pipe, "write", write)
        raise MemoryError

    monkeypatch.setattr(Pipe, "write", refused)
    assert apart.call("pid", cancelled=never, patience_s=60) == apart.pid != first


def test_threads_are_kept_for_later_calls(apart: Apart) -> None:
    assert len({apart.call("thread", cancelled=never) for _ in range(40)}) < 20


def test_it_is_told_with_every_call_whether_somebody_is_not_to_wait(apart: Apart) -> None:
    live = Apart(Thing, print, lambda: True)
    assert live.call("leaves_room", cancelled=never) is True
    live.close()
    assert apart.call("leaves_room", cancelled=never) is False


def test_what_it_logs_is_logged_here_and_what_it_prints_disturbs_nothing(
    apart: Apart, caplog: pytest.LogCaptureFixture
) -> None:
    apart.call("talk", cancelled=never)
    assert ("things", "told") in [(record.name, record.getMessage()) for record in caplog.records]


def test_a_process_that_is_killed_is_started_again_and_asked_again(apart: Apart, tmp_path: Path) -> None:
    first = apart.call("pid", cancelled=never)
    assert apart.call("die_once", str(tmp_path / "note"), cancelled=never) == "alive"
    assert apart.pid != first


def test_one_that_dies_again_and_again_is_told_of(apart: Apart) -> None:
    with pytest.raises(ProcessLostError) as lost:
        apart.call("die", cancelled=never)
    assert lost.value.how == "was ended by signal 9"
    assert apart.call("double", 2, cancelled=never) == 4


@pytest.fixture
def impatient() -> Iterator[Apart]:
    """It gives up a process of which it hears nothing for a while, but not one that gives a sign every second."""
    made = Apart(Thing, print, silence_s=3.0)
    yield made
    made.close()


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="a process cannot be stopped here")
def test_a_process_that_is_there_but_does_not_run_is_ended_and_asked_anew(
    impatient: Apart, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first = impatient.call("pid", cancelled=never)
    assert impatient.call("stop_once", str(tmp_path / "note"), cancelled=never) == "alive"
    assert impatient.pid != first
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)
    assert "was not heard of for 3 s" in caplog.text


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="a process cannot be stopped here")
def test_one_that_stops_again_and_again_is_told_of(impatient: Apart) -> None:
    with pytest.raises(ProcessLostError) as lost:
        impatient.call("stop", cancelled=never)
    assert lost.value.how == "was not heard of for 3 s"
    assert impatient.call("double", 2, cancelled=never) == 4


def test_a_call_that_takes_longer_than_that_is_waited_for_while_the_process_runs(impatient: Apart) -> None:
    first = impatient.call("pid", cancelled=never)
    assert impatient.call("take", 5.0, cancelled=never) == first


def test_who_did_not_listen_himself_takes_nobody_for_silent() -> None:
    silence = process._Silence()
    begun = time.monotonic()
    assert silence.lasts_s(begun, 1) == 0.0
    assert silence.lasts_s(begun + 3600, 1) <= 0.1, "he was stopped for an hour, or the machine slept"
    silent = [silence.lasts_s(begun + 3600 + tick / 20, 1) for tick in range(1, 61)]
    assert silent == sorted(silent) and 2.9 < silent[-1] < 3.2
    assert silence.lasts_s(begun + 3604, 2) == 0.0


def test_an_object_that_cannot_be_made_is_told_of_with_the_reason() -> None:
    apart = Apart(Broken, lambda: None)
    with pytest.raises(NoProcessError, match=r"a\.setting"):
        apart.call("anything", cancelled=never)
    apart.close()


def test_where_no_python_is_known_there_is_no_process(apart: Apart, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/opt/drawing-program")
    with pytest.raises(NoProcessError, match="drawing-program"):
        apart.call("pid", cancelled=never)


def test_after_closing_calls_are_cancelled_and_the_process_is_gone(apart: Apart) -> None:
    pid = apart.call("pid", cancelled=never)
    process = apart._running._process if apart._running is not None else None
    apart.close()
    assert process is not None and process.returncode == 0, "it ended by itself"
    with pytest.raises(CallCancelledError):
        apart.call("pid", cancelled=never)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_it_ends_when_the_process_that_started_it_is_killed() -> None:
    told = (
        "import sys, time; from tests.apart.things import Thing; from libravdb_memory.apart import Apart;"
        "apart = Apart(Thing, print); print(apart.call('pid', cancelled=lambda: False), flush=True); time.sleep(60)"
    )
    root = Path(__file__).parents[2]
    parent = subprocess.Popen(
        [sys.executable, "-c", told], stdout=subprocess.PIPE, cwd=root, env={**os.environ, "PYTHONPATH": str(root)}
    )
    assert parent.stdout is not None
    with parent.stdout:
        child = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    patience = time.monotonic() + 30
    while Path(f"/proc/{child}").exists() and time.monotonic() < patience:
        if Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            break
        threading.Event().wait(0.05)
    else:
        assert not Path(f"/proc/{child}").exists()


@pytest.mark.parametrize("kind", [value for value in vars(errors).values() if isinstance(value, type)])
def test_every_error_can_travel(kind: type) -> None:
    if not issubclass(kind, errors.LibraVDBError):
        pytest.skip("no error")
    made = kind.__new__(kind)
    Exception.__init__(made, "words")
    made.message, made.hint, made.fact = "words", "a hint", 7  # type: ignore[attr-defined]
    again = pickle.loads(pickle.dumps(made))
    assert type(again) is kind and again.args == ("words",) and vars(again) == vars(made)


@pytest.mark.parametrize("refused", ["libravdb-apart", "libravdb-apart-out"])
def test_a_process_that_nobody_can_listen_to_is_ended_and_the_next_call_starts_another(
    apart: Apart, refused: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[subprocess.Popen[bytes]] = []
    start, popen = threading.Thread.start, process._popen

    def started(thread: threading.Thread) -> None:
        if thread.name == refused:
            raise RuntimeError("can't start new thread")
        start(thread)

    def noted() -> subprocess.Popen[bytes]:
        begun.append(popen())
        return begun[-1]

    monkeypatch.setattr(process, "_popen", noted)
    with monkeypatch.context() as without:
        without.setattr(threading.Thread, "start", started)
        with pytest.raises(NoProcessError, match="can't start new thread"):
            apart.call("double", 2, cancelled=never)
    assert [each.poll() is not None for each in begun] == [True]
    assert apart.call("double", 2, cancelled=never) == 4
