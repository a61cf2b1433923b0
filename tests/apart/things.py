"""Objects that live in a process of their own in the tests; they are made there by what stands here."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from libravdb_memory.apart import Ask
from libravdb_memory.engines.places import places
from libravdb_memory.errors import CallCancelledError, ConfigError, TextRefusedError

Cancelled = Callable[[], bool]


@dataclass(frozen=True)
class Thing:
    ask: Ask

    def double(self, value: Any, cancelled: Cancelled) -> Any:
        return value * 2

    def pid(self, cancelled: Cancelled) -> int:
        return os.getpid()

    def refuse(self, cancelled: Cancelled) -> None:
        raise TextRefusedError("a model", "a reason")

    def unknown(self, cancelled: Cancelled) -> None:
        class Odd(Exception):
            pass

        raise Odd("that no other process knows")

    def unsendable(self, cancelled: Cancelled) -> object:
        return lambda: None

    def die(self, cancelled: Cancelled) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def die_once(self, note: str, cancelled: Cancelled) -> str:
        if not os.path.exists(note):  # noqa: PTH110 - a plain name
            with open(note, "x"):  # noqa: PTH123
                os.kill(os.getpid(), signal.SIGKILL)
        return "alive"

    def stop_once(self, note: str, cancelled: Cancelled) -> str:
        if not os.path.exists(note):  # noqa: PTH110 - a plain name
            with open(note, "x"):  # noqa: PTH123
                self.stop(cancelled)
        return "alive"

    def stop(self, cancelled: Cancelled) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(60)  # a signal may come a little later

    def take(self, seconds: float, cancelled: Cancelled) -> int:
        time.sleep(seconds)
        return os.getpid()

    def wait(self, cancelled: Cancelled) -> None:
        while not cancelled():
            time.sleep(0.01)
        raise CallCancelledError("waiting")

    def never_end(self, note: str, cancelled: Cancelled) -> None:
        with open(note, "a") as begun:  # noqa: PTH123 - a plain name
            begun.write("begun\n")
        while True:
            time.sleep(1)

    def ask_when_given_up(self, note: str, cancelled: Cancelled) -> None:
        while not cancelled():
            time.sleep(0.01)
        try:
            self.ask("too late")
        except CallCancelledError:
            with open(note, "x"):  # noqa: PTH123 - a plain name
                pass

    def thread(self, cancelled: Cancelled) -> int:
        return threading.get_native_id()

    def leaves_room(self, cancelled: Cancelled) -> bool:
        return places._clock() < places._arriving_until

    def asked(self, question: str, cancelled: Cancelled) -> Any:
        return self.ask(question)

    def talk(self, cancelled: Cancelled) -> None:
        print("printed where nobody may read it as an answer")  # noqa: T201
        logging.getLogger("things").warning("told")


class Broken:
    def __init__(self, ask: Ask) -> None:
        raise ConfigError("a.setting", "is bad")
