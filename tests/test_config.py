"""Settings: precedence, refusals by name, and documentation that cannot drift."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.config import UNUSED_VARIABLES, Config, Setting, known_settings, load_config, sections
from libravdb_memory.errors import ConfigError

ROOT = Path(__file__).resolve().parent.parent


def load(home: Path, toml: str = "", overrides: dict[str, object] | None = None, **variables: str) -> Config:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(toml, "utf-8")
    return load_config(overrides=overrides, environ={"LIBRAVDB_HOME": str(home), **variables})


def refusal(home: Path, toml: str = "", overrides: dict[str, object] | None = None, **variables: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load(home, toml, overrides, **variables)
    return str(caught.value)


def test_without_anything_set_the_defaults_hold(tmp_path: Path) -> None:
    config = load_config(environ={"HOME": str(tmp_path)})
    assert config == Config(home=tmp_path / ".clawdb", db_path=tmp_path / ".clawdb" / "data.libravdb")


def test_loading_makes_no_file(tmp_path: Path) -> None:
    load_config(environ={"HOME": str(tmp_path)})
    assert list(tmp_path.iterdir()) == []


def test_flags_beat_variables_beat_the_file_beat_the_defaults(tmp_path: Path) -> None:
    toml = "[store]\nwal_mb = 3\ncache_mb = 3\nexact_limit = 3\n"
    variables = {"LIBRAVDB_STORE_CACHE_MB": "4", "LIBRAVDB_STORE_EXACT_LIMIT": "4"}
    store = load(tmp_path, toml, {"store.exact_limit": 5}, **variables).store
    assert (store.wal_mb, store.cache_mb, store.exact_limit) == (3, 4, 5)
    assert store.resident_vector_mb == load(tmp_path).store.resident_vector_mb


@given(
    layers=st.lists(st.none() | st.integers(1, 10**6), min_size=3, max_size=3),
)
def test_the_last_layer_that_speaks_wins(tmp_path_factory: pytest.TempPathFactory, layers: list[int | None]) -> None:
    in_file, in_environment, in_flags = layers
    config = load(
        tmp_path_factory.mktemp("home"),
        "" if in_file is None else f"[store]\nwal_mb = {in_file}\n",
        {"store.wal_mb": in_flags},
        **({} if in_environment is None else {"LIBRAVDB_STORE_WAL_MB": str(in_environment)}),
    )
    spoken = [value for value in layers if value is not None]
    assert config.store.wal_mb == (spoken[-1] if spoken else load_config(environ={}).store.wal_mb)


def test_a_relative_path_in_the_file_is_relative_to_the_home(tmp_path: Path) -> None:
    assert load(tmp_path, 'db_path = "work.libravdb"').db_path == tmp_path / "work.libravdb"


def test_a_relative_path_in_a_variable_is_relative_to_the_working_folder(tmp_path: Path) -> None:
    assert load(tmp_path, LIBRAVDB_DB_PATH="notes").db_path == Path.cwd() / "notes"


def test_a_blank_variable_counts_as_absent(tmp_path: Path) -> None:
    assert load(tmp_path, LIBRAVDB_DB_PATH=" ", LIBRAVDB_STORE_WAL_MB="") == load(tmp_path)


@pytest.mark.parametrize("setting", known_settings(), ids=lambda setting: setting.name)
def test_every_setting_has_a_line_of_help_and_a_describable_kind(setting: Setting) -> None:
    assert setting.help.endswith(".") and setting.takes


@given(st.sampled_from(known_settings()), st.data())
def test_a_misspelt_variable_is_refused_with_the_right_name(setting: Setting, data: st.DataObject) -> None:
    tail = setting.variable.removeprefix("LIBRAVDB_")
    at = data.draw(st.integers(1, len(tail) - 1))
    misspelt = "LIBRAVDB_" + tail[:at] + tail[at] + tail[at:]
    with pytest.raises(ConfigError) as caught:
        load_config(environ={misspelt: "1"})
    assert misspelt in str(caught.value) and "did you mean LIBRAVDB_" in str(caught.value)


def test_an_unknown_key_names_its_file_and_its_neighbour(tmp_path: Path) -> None:
    told = refusal(tmp_path, "[embedding]\nbakend = 'hashed'\n")
    assert "embedding.bakend" in told and "config.toml" in told and "did you mean embedding.backend?" in told


def test_an_unknown_section_is_refused(tmp_path: Path) -> None:
    assert "setting embeding: unknown" in refusal(tmp_path, "[embeding]\nbackend = 'hashed'\n")


def test_a_section_given_as_a_value_is_refused(tmp_path: Path) -> None:
    assert "is a table" in refusal(tmp_path, "embedding = 3\n")


def test_a_key_without_its_section_is_pointed_to_it(tmp_path: Path) -> None:
    assert "did you mean embedding.backend?" in refusal(tmp_path, "backend = 'hashed'\n")


@pytest.mark.parametrize(
    ("toml", "named"),
    [
        ("[store]\nwal_mb = '3'\n", "store.wal_mb: takes a whole number"),
        ("[store]\nwal_mb = true\n", "store.wal_mb: takes a whole number"),
        ("[store]\nwal_mb = 0\n", "store.wal_mb"),
        ("[retrieval]\ncandidates = 0\n", "retrieval.candidates"),
        ("[embedding]\nbackend = 'hashd'\n", "did you mean hashed?"),
        ("db_path = 3\n", "db_path: takes a path"),
        ("db_path = ''\n", "db_path: takes a path"),
        ("[store\n", "not valid TOML"),
    ],
)
def test_a_bad_value_in_the_file_is_refused_by_name(tmp_path: Path, toml: str, named: str) -> None:
    assert named in refusal(tmp_path, toml)


def test_a_bad_value_in_a_variable_names_the_variable(tmp_path: Path) -> None:
    told = refusal(tmp_path, LIBRAVDB_STORE_WAL_MB="many")
    assert "store.wal_mb" in told and "LIBRAVDB_STORE_WAL_MB" in told


def test_bytes_that_are_no_text_in_the_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="not valid TOML"):
        load_config(environ={"LIBRAVDB_HOME": str(tmp_path)})


def test_a_whole_number_is_a_number(tmp_path: Path) -> None:
    assert load(tmp_path, "[assembly]\ntail_share = 0\n").assembly.tail_share == 0.0


def test_a_list_is_an_array_in_the_file_and_has_commas_in_a_variable(tmp_path: Path) -> None:
    toml = '[sources]\ntags = ["a", "b"]\nroot_paths = ["notes", "work=/srv/notes"]\n'
    sources = load(tmp_path, toml, LIBRAVDB_SOURCES_INCLUDE=" *.md, docs/*.txt ,").sources
    assert sources.tags == ("a", "b") and sources.include == ("*.md", "docs/*.txt")
    assert sources.root_paths == (str(tmp_path / "notes"), "work=/srv/notes")


@pytest.mark.parametrize("value", ["'a'", "[1]", "['']", "[['a']]"])
def test_a_list_of_anything_but_texts_is_refused(tmp_path: Path, value: str) -> None:
    assert "sources.tags: takes a list of texts" in refusal(tmp_path, f"[sources]\ntags = {value}\n")


def test_an_unknown_override_is_refused(tmp_path: Path) -> None:
    assert "setting store.wal" in refusal(tmp_path, overrides={"store.wal": 1})


def test_names_of_the_reference_host_never_stop_a_start(tmp_path: Path) -> None:
    assert load(tmp_path, **dict.fromkeys(UNUSED_VARIABLES, "anything")) == load(tmp_path)


def test_the_reference_names_of_the_daemon_are_honoured_unless_ours_are_set(tmp_path: Path) -> None:
    names = {"LIBRAVDB_RPC_ENDPOINT": "tcp:127.0.0.1:0", "LIBRAVDB_LIFECYCLE_JOURNAL_MAX_ENTRIES": "9"}
    serve = load(tmp_path, **names).serve
    assert (serve.endpoint, serve.journal_entries) == ("tcp:127.0.0.1:0", 9)
    assert load(tmp_path, **names, LIBRAVDB_SERVE_ENDPOINT="unix:/tmp/a.sock").serve.endpoint == "unix:/tmp/a.sock"
    assert "LIBRAVDB_LIFECYCLE" in refusal(tmp_path, LIBRAVDB_LIFECYCLE_JOURNAL_MAX_ENTRIES="many")
    assert "serve.endpoint" in refusal(tmp_path, LIBRAVDB_RPC_ENDPOINT="nowhere")


@pytest.mark.parametrize("place", ["model", "model/model.onnx"])
def test_the_reference_names_of_a_local_model_are_honoured(tmp_path: Path, place: str) -> None:
    embedding = load(
        tmp_path,
        LIBRAVDB_EMBEDDING_BACKEND="custom-local",
        LIBRAVDB_EMBEDDING_MODEL=str(tmp_path / place),
        LIBRAVDB_EMBEDDING_PROFILE="nomic-embed-text-v1.5",
    ).embedding
    assert (embedding.backend, embedding.model_path) == ("onnx-local", str(tmp_path / "model"))


def test_a_host_may_name_the_bundled_profile_and_no_other(tmp_path: Path) -> None:
    assert load(tmp_path, LIBRAVDB_EMBEDDING_PROFILE="all-minilm-l6-v2") == load(tmp_path)
    assert "embedding.profile" in refusal(tmp_path, LIBRAVDB_EMBEDDING_PROFILE="nomic-embed-text-v1.5")


def test_a_model_folder_in_the_file_is_relative_to_the_home(tmp_path: Path) -> None:
    toml = "[embedding]\nbackend = 'onnx-local'\nmodel_path = 'models/tiny'\n"
    assert load(tmp_path, toml).embedding.model_path == str(tmp_path / "models" / "tiny")


def test_no_two_settings_share_a_variable_and_none_hides_an_unused_one() -> None:
    names = [setting.variable for setting in known_settings()]
    assert len(set(names)) == len(names)
    assert not set(names) & set(UNUSED_VARIABLES)


def test_every_part_of_the_configuration_is_a_section() -> None:
    assert set(sections()) == {
        "store",
        "embedding",
        "gating",
        "retrieval",
        "assembly",
        "compaction",
        "summary",
        "secrets",
        "serve",
        "sources",
        "mcp",
        "telemetry",
    }


def test_importing_reads_no_variable() -> None:
    code = "import os; os.environ['LIBRAVDB_NONSENSE'] = '1'; import libravdb_memory.config"
    subprocess.run([sys.executable, "-c", code], check=True)


# ── documentation ────────────────────────────────────────────────────────────────────────────────────────────────


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_docs", ROOT / "tools" / "generate_docs.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_of_settings_is_up_to_date() -> None:
    for page, make in generator().PAGES.items():
        assert page.read_text("utf-8") == make(), f"{page.name}: run python tools/generate_docs.py"


def test_the_reference_names_every_setting() -> None:
    page = generator().settings_page()
    assert all(f"`{setting.variable}`" in page for setting in known_settings())
