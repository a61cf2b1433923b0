"""One Config, composed of each part's own settings, and the one place where settings are read.

Laws:

1. Defaults < `config.toml` in the home < `LIBRAVDB_*` variables < overrides (command-line flags).
2. An unknown key or variable and every bad value is refused by name, with the nearest known name.
3. Nothing is read at import; every setting, its variable, its help and its documentation come from the dataclasses.

A setting `key` of the part `section` is `key` in the table `[section]` of `config.toml`, and the variable
`LIBRAVDB_<SECTION>_<KEY>`. A blank variable counts as absent; one that takes a list has commas between its texts.
Relative paths are relative to the home in `config.toml` and to the working folder elsewhere.
"""

from __future__ import annotations

import dataclasses
import os
import types
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from libravdb_memory.assemble.budget import AssemblySettings
from libravdb_memory.compact.settings import CompactionSettings
from libravdb_memory.engines.select import EmbeddingSettings
from libravdb_memory.engines.summarising.select import SummarySettings
from libravdb_memory.errors import ConfigError
from libravdb_memory.gate.settings import GateSettings
from libravdb_memory.ingest.secrets_settings import SecretsSettings
from libravdb_memory.mcp_server.settings import McpSettings
from libravdb_memory.retrieve.settings import RetrievalSettings
from libravdb_memory.serve.settings import ServeSettings, TelemetrySettings
from libravdb_memory.sources.settings import SourcesSettings, split_name
from libravdb_memory.store.settings import StoreSettings

CONFIG_FILE = "config.toml"
DATA_FILE = "data.libravdb"
PREFIX = "LIBRAVDB_"

UNUSED_VARIABLES = (
    "LIBRAVDB_EMBEDDING_NORMALIZE",
    "LIBRAVDB_EMBEDDING_TOKENIZER",
    "LIBRAVDB_FALLBACK_PROFILE",
    "LIBRAVDB_SUMMARIZER_BACKEND",
    "LIBRAVDB_SUMMARIZER_ENDPOINT",
    "LIBRAVDB_SUMMARIZER_MODEL",
    "LIBRAVDB_SUMMARIZER_MODEL_PATH",
    "LIBRAVDB_SUMMARIZER_PROFILE",
    "LIBRAVDB_SUMMARIZER_TOKENIZER",
)
"""Names that hosts of the reference daemon set: known, so they never stop a start, but nothing reads them yet. (How
vectors are normalised and which tokenizer is used is said by a model's own manifest.)"""

_SYNONYMS = {
    "LIBRAVDB_LIFECYCLE_JOURNAL_MAX_ENTRIES": "LIBRAVDB_SERVE_JOURNAL_ENTRIES",
    "LIBRAVDB_RPC_ENDPOINT": "LIBRAVDB_SERVE_ENDPOINT",
}
"""Names of the reference for settings of ours; where both are set, ours counts."""
_BACKEND_SYNONYMS = {"custom-local": "onnx-local"}
_BUNDLED_PROFILE = "all-minilm-l6-v2"
_TRUTH = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


@dataclass(frozen=True, slots=True)
class Config:
    home: Path = field(metadata={"help": "Folder of config.toml and of the default data file."})
    db_path: Path = field(metadata={"help": "The store: its data file, or the folder that holds it."})
    store: StoreSettings = field(default_factory=StoreSettings)
    embedding: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    gating: GateSettings = field(default_factory=GateSettings)
    retrieval: RetrievalSettings = field(default_factory=RetrievalSettings)
    assembly: AssemblySettings = field(default_factory=AssemblySettings)
    compaction: CompactionSettings = field(default_factory=CompactionSettings)
    summary: SummarySettings = field(default_factory=SummarySettings)
    secrets: SecretsSettings = field(default_factory=SecretsSettings)
    serve: ServeSettings = field(default_factory=ServeSettings)
    sources: SourcesSettings = field(default_factory=SourcesSettings)
    telemetry: TelemetrySettings = field(default_factory=TelemetrySettings)
    mcp: McpSettings = field(default_factory=McpSettings)


@dataclass(frozen=True, slots=True)
class Setting:
    """One knob: where it is written, what it takes, what it does. `section` is "" for those of the whole."""

    section: str
    key: str
    hint: object
    default: object
    help: str

    @property
    def name(self) -> str:
        return f"{self.section}.{self.key}" if self.section else self.key

    @property
    def variable(self) -> str:
        return PREFIX + self.name.replace(".", "_").upper()

    @property
    def is_path(self) -> bool:
        return _plain(self.hint) is Path or self.key.endswith("_path")

    @property
    def is_list(self) -> bool:
        return _plain(self.hint) == tuple[str, ...]

    @property
    def takes(self) -> str:
        return "a path" if self.is_path else _describe(self.hint)


# ── the table of settings, read off the dataclasses ──────────────────────────────────────────────────────────────


def known_settings() -> tuple[Setting, ...]:
    """Every setting, in the order of the dataclasses."""
    return tuple(_whole()) + tuple(setting for section in sections() for setting in _settings_of(section))


def sections() -> dict[str, type[Any]]:
    """Each part's settings dataclass, by the name of its table."""
    hints = get_type_hints(Config)
    return {item.name: hints[item.name] for item in dataclasses.fields(Config) if _is_part(hints[item.name])}


def _is_part(hint: object) -> bool:
    return isinstance(hint, type) and dataclasses.is_dataclass(hint)


def _whole() -> Iterator[Setting]:
    defaults = {"home": "$HOME/.clawdb", "db_path": f"<home>/{DATA_FILE}"}
    for item in dataclasses.fields(Config):
        if item.name in defaults:
            yield Setting("", item.name, Path, defaults[item.name], item.metadata["help"])


def _settings_of(section: str) -> Iterator[Setting]:
    part = sections()[section]
    hints = get_type_hints(part)
    for item in dataclasses.fields(part):
        default = item.default_factory() if callable(item.default_factory) else item.default
        yield Setting(section, item.name, hints[item.name], default, _sentence(str(item.metadata.get("help", ""))))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "." if text else ""


# ── loading ──────────────────────────────────────────────────────────────────────────────────────────────────────


def load_config(*, overrides: Mapping[str, object] | None = None, environ: Mapping[str, str] | None = None) -> Config:
    """The configuration in force. `overrides` maps setting names ("db_path", "embedding.backend") to values; None
    values count as absent. `environ` stands for the process environment."""
    variables = os.environ if environ is None else environ
    given = {name: value for name, value in (overrides or {}).items() if value is not None}
    home = _home(given, variables)
    values: dict[str, object] = {"db_path": home / DATA_FILE}
    values |= _from_file(home / CONFIG_FILE)
    in_environment = _from_variables(variables)
    values |= in_environment | _from_overrides(given)
    values["home"] = home
    return _compose(_with_reference_meanings(values, in_environment.keys()))


def ignored_variables(environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The variables that are set, are known, and have no effect."""
    variables = os.environ if environ is None else environ
    return tuple(name for name in UNUSED_VARIABLES if variables.get(name, "").strip())


def _home(overrides: Mapping[str, object], variables: Mapping[str, str]) -> Path:
    if chosen := overrides.get("home") or variables.get("LIBRAVDB_HOME", "").strip():
        return _path(chosen, Path.cwd())
    base = variables.get("HOME", "").strip()
    return (Path(base) if base else Path.home()) / ".clawdb"


def _from_file(file: Path) -> dict[str, object]:
    known = {setting.name: setting for setting in known_settings() if setting.name != "home"}
    values: dict[str, object] = {}
    for name, value in _flatten(_read_toml(file)):
        if name not in known:
            raise ConfigError(name, f"unknown in {file}{_nearest(name, known)}")
        values[name] = _accept(known[name], value, origin=str(file), folder=file.parent)
    return values


def _read_toml(file: Path) -> dict[str, object]:
    import tomllib

    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(CONFIG_FILE, f"{file} is not valid TOML: {error}") from error
    except OSError as error:
        raise ConfigError(CONFIG_FILE, f"{file} cannot be read: {error.strerror}") from error


def _flatten(tree: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    parts = sections()
    for name, value in tree.items():
        if name not in parts:
            yield name, value
        elif isinstance(value, dict):
            yield from ((f"{name}.{key}", inner) for key, inner in cast("dict[str, object]", value).items())
        else:
            raise ConfigError(name, f"is a table, [{name}], not a value")


def _from_variables(variables: Mapping[str, str]) -> dict[str, object]:
    known = {setting.variable: setting for setting in known_settings()}
    values: dict[str, object] = {}
    for given, text in sorted(variables.items()):
        name = _SYNONYMS.get(given, given)
        if not name.startswith(PREFIX) or name in UNUSED_VARIABLES or name == "LIBRAVDB_HOME" or not text.strip():
            continue
        if name != given and variables.get(name, "").strip():
            continue
        if name not in known:
            raise ConfigError(name, f"unknown variable{_nearest(name, known)}")
        values[known[name].name] = _accept(known[name], _parse(text, known[name]), origin=given)
    return values


def _from_overrides(overrides: Mapping[str, object]) -> dict[str, object]:
    known = {setting.name: setting for setting in known_settings()}
    for name in overrides:
        if name not in known:
            raise ConfigError(name, f"unknown{_nearest(name, known)}")
    return {name: _accept(known[name], value, origin=None) for name, value in overrides.items()}


def _with_reference_meanings(values: Mapping[str, object], in_environment: Set[str]) -> dict[str, object]:
    """Variables as hosts of the reference set them: with a local backend EMBEDDING_MODEL is the model's file or
    folder, and EMBEDDING_PROFILE repeats what the model's own manifest says."""
    adapted, backend = dict(values), values.get("embedding.backend", "bundled")
    if backend == "onnx-local" and "embedding.model" in in_environment:
        place = Path(str(adapted.pop("embedding.model")))
        folder = place.parent if place.suffix == ".onnx" else place
        adapted.setdefault("embedding.model_path", str(_path(folder, Path.cwd())))
    known = backend == "onnx-local" or values.get("embedding.profile") == _BUNDLED_PROFILE
    if backend != "openai-compatible" and known and "embedding.profile" in in_environment:
        adapted.pop("embedding.profile", None)
    return adapted


def _compose(values: Mapping[str, object]) -> Config:
    whole: dict[str, Any] = {"home": values["home"], "db_path": values["db_path"]}
    for section, part in sections().items():
        chosen = {name.partition(".")[2]: value for name, value in values.items() if name.startswith(f"{section}.")}
        try:
            whole[section] = part(**chosen)
        except ConfigError as error:
            raise _located(error, section) from error
    return Config(**whole)


def _located(error: ConfigError, section: str) -> ConfigError:
    """A part names its own key; the reader of the message needs the section too."""
    return error if error.key.startswith(f"{section}.") else ConfigError(f"{section}.{error.key}", error.reason)


def _nearest(name: str, known: Iterable[str]) -> str:
    first = list(known)[::-1]  # of two settings with one name, the one that is listed first is meant
    tails = {full.rpartition(".")[2]: full for full in first} | {full.removeprefix(PREFIX): full for full in first}
    close = get_close_matches(name.removeprefix(PREFIX), tails, n=1)
    return f"; did you mean {tails[close[0]]}?" if close else "; the reference of settings lists the known ones"


# ── values ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _accept(setting: Setting, value: object, *, origin: str | None, folder: Path | None = None) -> object:
    """The value as the dataclass wants it, or ConfigError."""
    hint = _plain(setting.hint)
    if setting.name == "embedding.backend":
        value = _BACKEND_SYNONYMS.get(str(value), value)
    if setting.is_path and isinstance(value, str | Path) and str(value).strip():
        path = _path(value, folder or Path.cwd())
        return path if hint is Path else str(path)
    if setting.is_list and (texts := _texts(value)) is not None:
        return tuple(_named_path(text, folder) for text in texts) if setting.key.endswith("_paths") else texts
    if hint is float and type(value) is int:
        return float(value)
    if value in get_args(hint) if get_origin(hint) is Literal else type(value) is hint:
        return value
    where = f" (from {origin})" if origin else ""
    raise ConfigError(setting.name, f"takes {setting.takes}, not {value!r}{where}{_close_value(hint, value)}")


def _texts(value: object) -> tuple[str, ...] | None:
    """A list of texts that say something, as it is kept; None when it is something else."""
    items = cast("tuple[object, ...]", tuple(value)) if isinstance(value, list | tuple) else (None,)  # pyright: ignore[reportUnknownArgumentType]
    texts = tuple(item for item in items if isinstance(item, str) and item.strip())
    return texts if len(texts) == len(items) else None


def _named_path(text: str, folder: Path | None) -> str:
    name, path = split_name(text)
    place = str(_path(path, folder or Path.cwd())) if path else ""
    return f"{name}={place}" if name else place


def _close_value(hint: object, value: object) -> str:
    choices = [str(choice) for choice in get_args(hint)] if get_origin(hint) is Literal else []
    close = get_close_matches(str(value), choices, n=1)
    return f"; did you mean {close[0]}?" if close else ""


def _parse(text: str, setting: Setting) -> object:
    """The text of a variable as a value of the setting's kind, or the text itself for `_accept` to refuse."""
    hint, word = _plain(setting.hint), text.strip()
    if setting.is_list:
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if hint is bool:
        return _TRUTH.get(word.lower(), word)
    if hint is int or hint is float:
        try:
            return int(word) if hint is int else float(word)
        except ValueError:
            return word
    return word if get_origin(hint) is Literal else text


def _path(value: object, folder: Path) -> Path:
    return folder / Path(str(value)).expanduser()


def _plain(hint: object) -> object:
    """The hint without `| None`."""
    if get_origin(hint) in (Union, types.UnionType):
        return next(argument for argument in get_args(hint) if argument is not type(None))
    return hint


def _describe(hint: object) -> str:
    plain = _plain(hint)
    if get_origin(plain) is Literal:
        return "one of " + ", ".join(str(choice) for choice in get_args(plain))
    names: dict[object, str] = {
        bool: "true or false",
        int: "a whole number",
        float: "a number",
        Path: "a path",
        str: "text",
        tuple[str, ...]: "a list of texts",
    }
    return names[plain]
