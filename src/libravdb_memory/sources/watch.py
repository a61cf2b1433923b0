"""Roots watched while a process runs: a change is in memory soon after its file was saved.

A notification only says that it is time to look: every pass looks at the root as it is, so that storms of edits, saves
by renaming, lost notifications and roots that go and come back all end in the same state. One thread for each root.

Laws: a pass begins when nothing changed for the debounce time, or after ten of them at the latest; passes take at most
a fifth of the time. Where nothing can be watched, the root is looked at now and then. Whatever goes wrong is in
`state`, and tried again.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeAlias

from libravdb_memory.errors import LibraVDBError, StoreClosedError, StoreError
from libravdb_memory.sources.loader import forget_other_roots
from libravdb_memory.sources.readers import Reader, Reading, readers_of
from libravdb_memory.sources.report import Report
from libravdb_memory.sources.scan import Problem, is_gone
from libravdb_memory.sources.settings import SourcesSettings

_log = logging.getLogger(__name__)

Mode: TypeAlias = Literal["starting", "watching", "polling", "missing", "stopped"]
Changes: TypeAlias = "set[tuple[int, str]] | Literal['signal', 'stop', 'timeout']"

_LOOK_S = 1.0
_RECHECK_S = 300.0  # some file systems never notify
_RETRY_WATCHING_S = 60.0
_REST_FACTOR, _LONGEST_REST_S = 4, 5.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 60.0


class Notifier(Protocol):
    """Tells of changes in the folders it was made for, not of those below them."""

    def watch(self, debounce_ms: int, step_ms: int, timeout_ms: int, stop_event: threading.Event | None) -> Changes: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class WatchState:
    """`passes` counts looks at the root, `documents` what was read from it. `failure` says why it is not up to date;
    `note` why it is polled."""

    root: str
    mode: Mode = "starting"
    passes: int = 0
    documents: int = 0
    changes: int = 0
    problems: tuple[Problem, ...] = ()
    failure: str | None = None
    note: str = ""


def notify_of(folders: Sequence[str]) -> Notifier:
    """Folder by folder, not recursively: what is excluded costs nothing, and no link is followed out of a root."""
    from watchfiles._rust_notify import RustNotify

    return RustNotify(list(folders), False, False, 300, False, True)


class RootWatcher:
    def __init__(
        self,
        reader: Reader,
        *,
        debounce_ms: int = 150,
        poll_s: float = 5.0,
        notify: Callable[[Sequence[str]], Notifier] = notify_of,
    ) -> None:
        self._reader = reader
        self._debounce_ms = debounce_ms
        self._poll_s = poll_s
        self._notify = notify
        self._stop = threading.Event()
        self._changed = threading.Condition()
        self._state = WatchState(reader.root.name)
        self._notifier: Notifier | None = None
        self._watched: frozenset[str] = frozenset()
        self._watch_again_at = 0.0
        self._thread = threading.Thread(target=self._run, name=f"libravdb-source-{reader.root.name}", daemon=True)

    @property
    def state(self) -> WatchState:
        return self._state

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Finish the batch under way and end. What is left over is read at the next start."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def wait(self, until: Callable[[WatchState], bool], timeout_s: float | None = None) -> bool:
        """Until the state is such; False when the time is up."""
        with self._changed:
            return self._changed.wait_for(lambda: until(self._state), timeout_s)

    # ── the thread ───────────────────────────────────────────────────────────────────────────────────────────────

    def _run(self) -> None:
        pause_s = _FIRST_PAUSE_S
        while not self._stop.is_set():
            try:
                self._attend()
            except StoreClosedError:
                break
            except Exception as error:  # the thread's outermost frame: whatever it is, it must be seen and retried
                self._report_failure(error, pause_s)
                self._stop.wait(pause_s)
                pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)
            else:
                pause_s = _FIRST_PAUSE_S
        self._unwatch()
        self._tell(mode="stopped")

    def _attend(self) -> None:
        """One pass, then wait for a reason for the next one."""
        report = self._pass()
        if report.missing:
            self._unwatch()
            self._tell(mode="missing")
            self._stop.wait(min(self._poll_s, _LOOK_S))
        elif frozenset(report.folders) != self._watched and time.monotonic() >= self._watch_again_at:
            self._watch(report.folders)  # and look again at once: something may have changed in between
        elif self._notifier is None:
            self._stop.wait(self._poll_s)
        else:
            self._await_change()

    def _pass(self) -> Report:
        started = time.monotonic()
        report = self._reader.run(self._stop.is_set)
        state = self._state
        changes = len(report.added) + len(report.changed) + len(report.moved) + len(report.removed)
        self._tell(
            passes=state.passes + 1,
            documents=report.documents,
            changes=state.changes + changes,
            problems=report.problems,
            failure=None,
        )
        self._stop.wait(min((time.monotonic() - started) * _REST_FACTOR, _LONGEST_REST_S))
        return report

    def _watch(self, folders: Sequence[str]) -> None:
        try:
            notifier = self._notify(folders)
        except FileNotFoundError:  # a folder went away since the pass: the next one knows
            self._stop.wait(self._debounce_ms / 1000)
            return
        except OSError as error:
            self._unwatch()
            self._watch_again_at = time.monotonic() + _RETRY_WATCHING_S
            self._tell(mode="polling", note=f"cannot be watched: {error}")
            _log.warning(
                "%s cannot be watched (%s): it is looked at every %g s", self._reader.root.path, error, self._poll_s
            )
            return
        self._unwatch()
        self._notifier, self._watched = notifier, frozenset(folders)
        self._tell(mode="watching", note="")

    def _unwatch(self) -> None:
        notifier, self._notifier, self._watched = self._notifier, None, frozenset()
        if notifier is not None:
            notifier.close()

    def _await_change(self) -> None:
        assert self._notifier is not None
        recheck_at = time.monotonic() + _RECHECK_S
        step = self._debounce_ms
        while not self._stop.is_set() and time.monotonic() < recheck_at:
            changes = self._notifier.watch(step * 10, step, int(_LOOK_S * 1000), self._stop)
            if isinstance(changes, str):
                if is_gone(self._reader.root.path):
                    return
            elif self._matter(changes):
                return

    def _matter(self, changes: Iterable[tuple[int, str]]) -> bool:
        """Whether a pass is due. A folder that came or went takes its own watch along."""
        paths = {path for _, path in changes}
        if paths & self._watched:
            self._watched = frozenset()
            return True
        selection, top = self._reader.root.selection, os.path.realpath(self._reader.root.path)
        for path in paths:
            relative = os.path.relpath(path, top).replace(os.sep, "/")
            if selection.takes(relative) or (os.path.isdir(path) and selection.enters(relative)):  # noqa: PTH112
                return True
        return False

    def _report_failure(self, error: Exception, pause_s: float) -> None:
        reason = str(error) if isinstance(error, LibraVDBError) else f"{type(error).__name__}: {error}"
        _log.warning("%s is not up to date (%s): next try in %g s", self._reader.root.path, reason, pause_s)
        self._tell(failure=reason)

    def _tell(self, **news: object) -> None:
        with self._changed:
            self._state = replace(self._state, **news)  # type: ignore[arg-type]
            self._changed.notify_all()


class Watcher:
    """Every root of the settings, watched from `start` to `stop`."""

    def __init__(self, memory: Reading, settings: SourcesSettings) -> None:
        self._memory = memory
        self._settings = settings
        self.roots = tuple(
            RootWatcher(reader, debounce_ms=settings.debounce_ms, poll_s=settings.poll_s)
            for reader in readers_of(memory, settings)
        )

    @property
    def states(self) -> tuple[WatchState, ...]:
        return tuple(watcher.state for watcher in self.roots)

    def start(self) -> None:
        """Forget what was read from roots of before, and keep the others up to date from now on."""
        try:
            forget_other_roots(self._memory, self._settings.roots())
        except StoreError as error:  # a full disk, mostly; the next start tries again
            _log.warning("what was read from folders that are sources no more stays: %s", error)
        for watcher in self.roots:
            watcher.start()

    def stop(self) -> None:
        for watcher in self.roots:
            watcher.stop()
