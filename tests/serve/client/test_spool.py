"""The spool on disk: nothing acknowledged is lost, whatever byte a writer died at."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.serve.client.entries import Entry, read_entries, write_entry
from libravdb_memory.serve.client.spool import DAMAGED, SEGMENT_BYTES, Spool, SpoolError

TEXT = st.text(st.characters(), max_size=12)
ENTRIES = st.lists(
    st.builds(Entry, TEXT, st.dictionaries(TEXT, TEXT | st.integers(), max_size=3), st.integers(0, 2**50)),
    min_size=1,
    max_size=6,
)


def said(text: str) -> Entry:
    return Entry("ingest_message", {"text": text}, 7)


def waiting(spool: Spool) -> list[str]:
    """Take out everything, as a delivery does."""
    found: list[str] = []
    while (batch := spool.next_batch()) is not None:
        found += [str(placed.entry.params["text"]) for placed in batch.placed if placed.entry is not None]
        spool.done(batch.segment, batch.end)
    return found


def segments(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.spool"))


# ── bytes ────────────────────────────────────────────────────────────────────────────────────────────────────────


@given(ENTRIES)
def test_what_was_written_is_read_back_exactly(entries: list[Entry]) -> None:
    data = b"".join(map(write_entry, entries))
    placed = list(read_entries(data))
    assert [each.entry for each in placed] == entries
    assert b"".join(each.raw for each in placed) == data and placed[-1].end == len(data)


@given(ENTRIES, st.data())
def test_a_spool_cut_at_any_byte_keeps_every_whole_entry(entries: list[Entry], data: st.DataObject) -> None:
    lines = [write_entry(entry) for entry in entries]
    whole = b"".join(lines)
    cut = data.draw(st.integers(0, len(whole)))
    kept = sum(1 for index in range(len(lines)) if len(b"".join(lines[: index + 1])) <= cut)
    found = [each.entry for each in read_entries(whole[:cut])]
    assert found[:kept] == entries[:kept]
    assert found[kept:] in ([], [None]) or found[kept:] == entries[kept : kept + 1]  # but for its line end


@given(ENTRIES, st.data())
def test_one_changed_byte_costs_at_most_the_entry_it_is_in(entries: list[Entry], data: st.DataObject) -> None:
    lines = [write_entry(entry) for entry in entries]
    hit = data.draw(st.integers(0, len(lines) - 1))
    at, other = data.draw(st.integers(0, len(lines[hit]) - 1)), data.draw(st.integers(1, 255))
    broken = bytearray(lines[hit])
    broken[at] ^= other
    lines[hit] = bytes(broken)
    found = [each.entry for each in read_entries(b"".join(lines)) if each.entry is not None]
    without = [*entries[:hit], *entries[hit + 1 :]]
    assert found in (without, entries)


@given(st.binary(max_size=300), st.integers(0, 10))
def test_any_bytes_are_read_without_a_fault_and_to_their_end(data: bytes, start: int) -> None:
    placed = list(read_entries(data, start))
    assert all(each.entry is None for each in placed)
    assert not placed or placed[-1].end <= len(data)


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_entries_come_out_in_order_over_many_segments_and_leave_nothing(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    texts = [f"{index:04d}" + "x" * (SEGMENT_BYTES // 7) for index in range(30)]
    for text in texts:
        spool.append(said(text))
    assert len(segments(tmp_path / "spool")) > 3
    assert spool.pending() and waiting(spool) == texts and not spool.pending()
    assert not segments(tmp_path / "spool") and not list((tmp_path / "spool").glob("*.place"))


def test_an_empty_spool_makes_no_folder_and_one_in_use_is_its_owner_s_alone(tmp_path: Path) -> None:
    folder = tmp_path / "spool"
    spool = Spool(folder)
    assert not spool.pending() and not folder.exists()
    spool.append(said("a"))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in folder.iterdir())


def test_after_a_writer_that_died_at_any_byte_the_next_one_goes_on(tmp_path: Path) -> None:
    torn = write_entry(said("torn"))
    for cut in range(1, len(torn) - 1):
        spool = Spool(tmp_path / str(cut))
        spool.append(said("before"))
        (segment,) = segments(tmp_path / str(cut))
        segment.write_bytes(segment.read_bytes() + torn[:cut])
        if cut % 2:  # a delivery comes between
            batch = spool.next_batch()
            assert batch is not None and [placed.entry for placed in batch.placed] == [said("before"), None]
            spool.done(segment, batch.placed[0].end)
            spool.append(said("after"))
            assert waiting(spool) == ["after"]
        else:
            spool.append(said("after"))
            assert waiting(spool) == ["before", "after"]


def test_what_is_appended_during_a_delivery_stays(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.append(said("first"))
    batch = spool.next_batch()
    assert batch is not None
    spool.append(said("second"))
    spool.done(batch.segment, batch.end)
    assert spool.pending() and waiting(spool) == ["second"]


def test_the_line_end_after_a_torn_line_is_no_entry(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.append(said("before"))
    (segment,) = segments(tmp_path)
    segment.write_bytes(segment.read_bytes() + b"torn")
    batch = spool.next_batch()
    assert batch is not None
    spool.append(said("after"))
    spool.done(segment, batch.end)
    rest = spool.next_batch()
    assert rest is not None and [placed.entry for placed in rest.placed] == [said("after")]


def test_a_place_that_is_lost_or_garbled_costs_a_second_delivery_and_no_entry(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    for text in ("a", "b"):
        spool.append(said(text))
    batch = spool.next_batch()
    assert batch is not None
    spool.done(batch.segment, batch.placed[0].end)
    batch.segment.with_suffix(".place").write_text("no number")
    assert waiting(spool) == ["a", "b"]


def test_a_place_noted_for_a_segment_that_is_gone_is_never_taken_for_another_s(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.append(said("a"))
    (old,) = segments(tmp_path)
    waiting(spool)
    old.with_suffix(".place").write_text("1000000")
    spool.append(said("b"))
    assert waiting(spool) == ["b"]


def test_a_clock_that_goes_back_puts_no_segment_before_an_older_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = Spool(tmp_path)
    texts = [f"{index}" + "x" * SEGMENT_BYTES for index in range(3)]
    for text, moment in zip(texts, (3_000, 2_000, 1_000), strict=True):
        monkeypatch.setattr("time.time_ns", lambda moment=moment: moment)
        spool.append(said(text))
    assert waiting(spool) == texts


def test_a_full_spool_refuses_and_keeps_what_it_has(tmp_path: Path) -> None:
    spool = Spool(tmp_path, limit=500)
    kept = 0
    with pytest.raises(SpoolError, match="may hold 500"):
        while True:
            spool.append(said("x" * 50))
            kept += 1
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= 500
    assert 0 < kept < 6 and len(waiting(spool)) == kept
    spool.append(said("again"))
    assert waiting(spool) == ["again"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(SpoolError, match="cannot be used"):
        Spool(tmp_path / "spool").append(said("a"))
    tmp_path.chmod(0o700)


def test_a_file_in_the_place_of_the_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "spool").write_text("notes")
    with pytest.raises(SpoolError, match="cannot be used"):
        Spool(tmp_path / "spool").append(said("a"))


def test_one_delivers_at_a_time(tmp_path: Path) -> None:
    first = Spool(tmp_path).claim()
    assert first is not None and Spool(tmp_path).claim() is None
    first.release()
    second = Spool(tmp_path).claim()
    assert second is not None
    second.release()


def test_threads_that_append_at_once_lose_nothing_and_keep_their_own_order(tmp_path: Path) -> None:
    def write(name: str) -> None:
        for index in range(25):
            Spool(tmp_path).append(said(f"{name}{index}"))

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = waiting(Spool(tmp_path))
    assert len(found) == 100
    for name in "abcd":
        assert [text for text in found if text[0] == name] == [f"{name}{index}" for index in range(25)]


def test_what_is_set_aside_is_counted_and_kept_byte_by_byte(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    assert spool.set_aside_count() == 0
    spool.append(said("a"))
    spool.set_aside(b"\x00broken", DAMAGED)
    spool.set_aside(b"more\n", DAMAGED)
    assert (tmp_path / DAMAGED).read_bytes() == b"\x00broken\nmore\n" and spool.set_aside_count() == 2
    assert waiting(spool) == ["a"]
