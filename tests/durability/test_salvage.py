"""Salvage: what a damaged store still holds is saved exactly, and what is lost is counted."""

from __future__ import annotations

import io
import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from libravdb_memory import Config, Memory, StoreError, StoreLockedError, load_config
from libravdb_memory.cli import main
from libravdb_memory.model import Draft
from libravdb_memory.namespaces import history_of
from libravdb_memory.portability import export_to
from libravdb_memory.store.protocol import Key, Link, Put
from libravdb_memory.store.sqlite.salvage import Salvage
from libravdb_memory.store.sqlite.store import SqliteStore

PAGE = 4096
TURNS = 400
Records = dict[tuple[str, str, str], dict[str, Any]]


def config_in(home: Path) -> Config:
    return load_config(environ={"LIBRAVDB_HOME": str(home), "LIBRAVDB_EMBEDDING_BACKEND": "hashed"})


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Turns of several users and sessions on many pages, some longer than a page, some erased; judged and linked."""
    path = tmp_path_factory.mktemp("sound") / "store.libravdb"
    with Memory.open(path, config=config_in(path.parent / "home")) as memory:
        for number in range(TURNS):
            text = f"turn number-{number:04d} " + "of the harbour log " * (400 if number % 90 == 7 else 12)
            memory.ingest(text, user=f"u{number % 2}", session=f"s{number % 5}", id=str(number), ts=number)
        for number in range(50, 80):
            memory.erase(str(number))
        assert memory.wait(60)
        history, notes = history_of("u0"), Draft("notes", "n", "a summary", group="g")
        memory._store.commit([Put(notes), Link(Key("notes", "n", "g"), Key(history, "2", "s2"))])
    return path


@pytest.fixture
def hurt(sound: Path, tmp_path: Path) -> Path:
    shutil.copytree(sound.parent, tmp_path / "copy")
    return tmp_path / "copy" / sound.name


def records_of(export: str) -> Records:
    lines = [json.loads(line) for line in export.split("\n") if line]
    return {(line["collection"], line["group"], line["id"]): line for line in lines if line.get("type") == "record"}


def exported(path: Path) -> str:
    out = io.StringIO()
    with SqliteStore.open(path) as store:
        export_to(out, store)
    return out.getvalue()


def salvaged(path: Path) -> tuple[str, int]:
    out = io.StringIO()
    with Salvage(path) as salvage:
        export_to(out, salvage)
        return out.getvalue(), salvage.unreadable


def overwrite_page_holding(path: Path, words: bytes, content: bytes = bytes(PAGE)) -> int:
    """How many turns began on the page."""
    raw = bytearray(path.read_bytes())
    assert raw.count(words) == 1
    start = raw.index(words) // PAGE * PAGE
    held = raw[start : start + PAGE].count(b"turn number-")
    raw[start : start + PAGE] = content
    path.write_bytes(raw)
    return held


def test_of_a_sound_store_everything_is_saved_to_the_same_bytes(hurt: Path) -> None:
    assert salvaged(hurt) == (exported(hurt), 0)


def test_a_page_lost_in_the_middle_takes_only_its_own_turns(
    sound: Path, hurt: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = records_of(exported(sound))
    lost = overwrite_page_holding(hurt, b"turn number-0200 ")
    assert 0 < lost < 40
    file = tmp_path / "saved.jsonl"
    assert main(["--db", str(hurt), "export", str(file)]) == 5
    assert "libravdb export --salvage FILE" in capsys.readouterr().err and not file.exists()
    assert main(["--db", str(hurt), "export", "--salvage", str(file)]) == 1
    assert f"{lost} records could not be read" in capsys.readouterr().err
    saved = records_of(file.read_text())
    assert len(saved) == len(whole) - lost and saved.items() <= whole.items()
    assert (history_of("u0"), "s0", "0") in saved and (history_of("u1"), "s4", str(TURNS - 1)) in saved
    with Memory.open(tmp_path / "new.libravdb", config=config_in(tmp_path)) as memory:
        with file.open() as lines:
            assert memory.import_(lines).added == len(saved)
        assert memory.wait(60) and memory.verify().ok
        assert memory.get("199").text == whole[history_of("u1"), "s4", "199"]["text"]
        out = io.StringIO()
        memory.export(out)
        assert records_of(out.getvalue()) == saved


def test_the_advice_of_doctor_verify_and_errors_leads_to_an_end(hurt: Path, capsys: pytest.CaptureFixture[str]) -> None:
    overwrite_page_holding(hurt, b"turn number-0200 ")
    for command in ("doctor", "verify", "export"):
        main(["--db", str(hurt), command, *(["-"] if command == "export" else [])])
        said = " ".join("".join(capsys.readouterr()).split())
        assert "libravdb restore BACKUP" in said and "export --salvage FILE" in said
        assert not any(f"libravdb {other}" in said for other in ("doctor", "verify")), "no command sends on to another"


@pytest.mark.parametrize("seed", range(3))
def test_whatever_page_is_damaged_only_exact_records_are_saved(sound: Path, hurt: Path, seed: int) -> None:
    chance, whole, image = random.Random(seed), records_of(exported(sound)), sound.read_bytes()
    pages = chance.sample(range(1, len(image) // PAGE), 25)
    most = 0
    for page in pages:
        content = chance.choice([bytes(PAGE), chance.randbytes(PAGE), b"\xff" * PAGE])
        hurt.write_bytes(image[: page * PAGE] + content + image[(page + 1) * PAGE :])
        try:
            text, unreadable = salvaged(hurt)
        except StoreError as error:
            assert "beyond reading" in str(error)
            continue
        saved = records_of(text)
        assert saved.items() <= whole.items()
        assert len(saved) + unreadable >= len(whole), f"page {page}: something was lost in silence"
        most = max(most, len(saved))
    assert most == len(whole), "most pages hold no records"


def test_two_lost_pages_do_not_hide_what_lies_between(sound: Path, hurt: Path) -> None:
    lost = sum(overwrite_page_holding(hurt, words) for words in (b"turn number-0120 ", b"turn number-0300 "))
    text, unreadable = salvaged(hurt)
    saved, whole = records_of(text), records_of(exported(sound))
    assert unreadable == lost == len(whole) - len(saved)
    assert {str(number) for number in range(190, 230)} <= {record_id for _, _, record_id in saved}


def test_a_store_without_its_first_page_says_what_is_left_to_do(hurt: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw = hurt.read_bytes()
    hurt.write_bytes(raw[:100] + b"\xff" * (PAGE - 100) + raw[PAGE:])
    assert main(["--db", str(hurt), "export", "--salvage", "-"]) == 5
    said = capsys.readouterr().err
    assert "damaged beyond reading" in said and "libravdb restore BACKUP" in said and "--salvage" not in said


def test_a_store_in_use_is_not_salvaged(hurt: Path) -> None:
    with SqliteStore.open(hurt), pytest.raises(StoreLockedError):
        Salvage(hurt)


@pytest.fixture(autouse=True)
def weightless(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("LIBRAVDB_EMBEDDING_BACKEND", "hashed")
    monkeypatch.setenv("LIBRAVDB_HOME", str(tmp_path / "home"))
    yield
