"""What one run of the program was asked, beside its command: which store, how to speak.

The shared options may stand before or after the subcommand; the later one wins. Law: a command works the same whether a
daemon has the store open or not; where one has, its calls are made there.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from libravdb_memory.cli.terminal import Terminal
from libravdb_memory.errors import StoreError

if TYPE_CHECKING:
    from libravdb_memory.config import Config
    from libravdb_memory.serve.bridge.line import Line
    from libravdb_memory.serve.bridge.remote import AnyKeeping, AnyMemory, AnyTending
    from libravdb_memory.store.sqlite.salvage import Salvage

_COMMANDS = re.compile(r"(^|[:;,] )libravdb (?=[a-z])")
"""Of a remedy, which may be a sentence."""


@dataclass(slots=True)
class Invocation:
    """Filled in by the options as they are parsed, read by the command."""

    db: Path | None = None
    as_json: bool = False
    debug: bool = False
    verbose: bool = False
    terminal: Terminal = field(default_factory=Terminal)

    def config(self) -> Config:
        from libravdb_memory.config import load_config

        return load_config(overrides={"db_path": self.db})

    def again(self, *words: str) -> str:
        """The command line of a command on the same store, as it is told in words."""
        from libravdb_memory.cli.render import in_one_line

        return in_one_line(shlex.join(["libravdb", *words, *([] if self.db is None else ["--db", str(self.db)])]))

    def for_this_store(self, remedy: str) -> str:
        """The commands of a remedy, on the same store."""
        if self.db is None:
            return remedy
        named = shlex.join(["libravdb", "--db", str(self.db)])
        return _COMMANDS.sub(lambda found: f"{found[1]}{named} ", remedy)

    @contextmanager
    def open_memory(
        self, *, create: bool = False, on_mismatch: Literal["refuse", "reindex"] = "refuse"
    ) -> Generator[AnyMemory]:
        from libravdb_memory.memory import Memory
        from libravdb_memory.serve.bridge.remote import RemoteMemory

        config = self.config()
        with self._daemon(config) as line:
            if line is not None:
                yield RemoteMemory(line)
                return
        _check_exists(config, create)
        with Memory.open(config=config, on_mismatch=on_mismatch) as memory:
            yield memory

    @contextmanager
    def open_store(self) -> Generator[AnyKeeping]:
        """The store alone, for what needs no model; so a missing or other model is no obstacle."""
        from libravdb_memory.serve.bridge.keeping import Keeping
        from libravdb_memory.serve.bridge.remote import RemoteKeeping
        from libravdb_memory.store.sqlite.store import SqliteStore

        config = self.config()
        with self._daemon(config) as line:
            if line is not None:
                yield RemoteKeeping(line)
                return
        _check_exists(config, create=False)
        with closing(SqliteStore.open(config.db_path, settings=config.store)) as store:
            yield Keeping(store)

    def tending(self, memory: AnyMemory) -> AnyTending:
        """What an open memory can do beside its verbs."""
        from libravdb_memory.serve.bridge.remote import RemoteMemory, RemoteTending
        from libravdb_memory.serve.bridge.tending import Tending

        return RemoteTending(memory.line) if isinstance(memory, RemoteMemory) else Tending(memory, self.config())

    def has_store(self) -> bool:
        return _data_file(self.config()).exists()

    def refuse_daemon(self) -> None:
        """For what must have the file to itself."""
        with self._daemon(self.config()) as line:
            if line is not None:
                told = f"a daemon (process {line.peer.pid}) has this store open"
                raise StoreError(told, "stop it with 'libravdb daemon stop'")

    @contextmanager
    def _daemon(self, config: Config) -> Generator[Line | None]:
        """A line to the daemon that has the store open, if one has."""
        from libravdb_memory.serve.bridge.finding import find_daemon

        line = find_daemon(_data_file(config), config.home)
        if line is None:
            yield None
            return
        if self.verbose:
            self.terminal.words(f"asking the daemon, process {line.peer.pid}, at {line.peer.endpoint}")
        with closing(line):
            yield line

    @contextmanager
    def open_damaged(self) -> Generator[Salvage, None, None]:
        """What can be read of a store that may be damaged."""
        from libravdb_memory.store.sqlite.salvage import Salvage

        self.refuse_daemon()
        config = self.config()
        _check_exists(config, create=False)
        with Salvage(_data_file(config)) as salvage:
            yield salvage


def _check_exists(config: Config, create: bool) -> None:
    """Only commands that put something in make a store: a mistyped path must not look like an empty memory."""
    file = _data_file(config)
    if not create and not file.exists():
        raise StoreError(f"there is no store at {file}", "'libravdb add' makes one")


def _data_file(config: Config) -> Path:
    from libravdb_memory.store.sqlite.files import locate

    try:
        file = locate(config.db_path)
        file.exists()
    except OSError as error:
        raise StoreError(f"{config.db_path} cannot be looked at: {error.strerror}") from error
    return file


def _remember(context: click.Context, option: click.Parameter, value: Any) -> None:
    invocation = context.ensure_object(Invocation)
    if not value:
        return
    if option.name == "quiet":
        invocation.terminal.quiet = True
    elif option.name == "as_json":
        invocation.as_json = invocation.terminal.for_programs = True
    elif option.name == "debug":
        invocation.debug = True
    elif option.name == "verbose":
        invocation.verbose = True
    elif option.name == "db":
        invocation.db = value


def shared_options() -> list[click.Parameter]:
    def option(*names: str, **how: Any) -> click.Option:
        return click.Option(names, expose_value=False, callback=_remember, **how)

    return [
        option(
            "--db",
            type=click.Path(readable=False, path_type=Path),
            metavar="PATH",
            help="The store: a file or a folder.",
        ),
        option("--json", "as_json", is_flag=True, help="Answer with JSON on stdout."),
        option("-q", "--quiet", is_flag=True, help="No progress and no remarks."),
        option("-v", "--verbose", is_flag=True, help="Say which process has the store open."),
        option("--debug", is_flag=True, help="Show the traceback of an error."),
    ]


class SharedCommand(click.Command):
    """A command that also takes the shared options, unless it has one of its own by that name. What speaks only to
    people has no --json."""

    def __init__(self, name: str | None, *, to_people_only: bool = False, **how: Any) -> None:
        super().__init__(name, **how)
        self._to_people_only = to_people_only
        taken = {flag for parameter in self.params for flag in parameter.opts}
        if to_people_only:
            taken.add("--json")
        self.params += [option for option in shared_options() if not taken & set(option.opts)]

    def invoke(self, ctx: click.Context) -> Any:
        invocation = ctx.find_object(Invocation)
        if self._to_people_only and invocation is not None and invocation.as_json:
            raise click.UsageError(f"{self.name} has no --json", ctx)
        return super().invoke(ctx)


command: Callable[..., Callable[[Callable[..., Any]], click.Command]] = partial(click.command, cls=SharedCommand)
