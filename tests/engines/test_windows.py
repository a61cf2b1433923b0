from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.engines import windows
from libravdb_memory.engines.windows import MOST_WINDOWS

lengths = st.integers(0, 20_000)
sizes = st.integers(1, 600)


@given(lengths, sizes)
def test_windows_are_bounded_in_size_and_number_and_never_empty(length: int, size: int) -> None:
    cuts = windows.overlapping(length, size)
    assert len(cuts) <= MOST_WINDOWS
    assert all(0 < cut.stop - cut.start <= size for cut in cuts)
    assert (not cuts) == (length == 0)


@given(lengths, sizes)
def test_windows_reach_both_ends(length: int, size: int) -> None:
    if cuts := windows.overlapping(length, size):
        assert (cuts[0].start, cuts[-1].stop) == (0, length)


@given(sizes, st.data())
def test_a_text_within_the_bound_is_covered_whole_with_overlaps(size: int, data: st.DataObject) -> None:
    most = size + (MOST_WINDOWS - 1) * max(size * 3 // 4, 1)
    cuts = windows.overlapping(data.draw(st.integers(1, most)), size)
    for before, after in pairwise(cuts):
        assert after.start <= before.stop
        assert size == 1 or after.start < before.stop


@given(st.integers(0, 10**7), st.integers(2, 64))
def test_spreading_keeps_both_ends_and_even_steps(count: int, most: int) -> None:
    places = windows.spread(count, most)
    assert len(places) == min(count, most)
    if count:
        assert (places[0], places[-1]) == (0, count - 1)
    steps = {after - before for before, after in pairwise(places)}
    assert not steps or max(steps) - min(steps) <= 1
    assert 0 not in steps


@given(st.integers(0, 300_000), st.integers(1, 300))
def test_what_is_tokenised_is_bounded_whatever_the_length(length: int, max_tokens: int) -> None:
    text = "ab" * (length // 2) + "z" * (length % 2)
    pieces = windows.sample(text, max_tokens)
    assert sum(map(len, pieces)) <= max_tokens * windows.CHARACTERS_PER_TOKEN * MOST_WINDOWS
    assert text.startswith(pieces[0])
    assert text.endswith(pieces[-1])


@given(st.text(st.characters(exclude_categories=()), max_size=50))
def test_speakable_text_has_utf8_and_changes_only_lone_surrogates(text: str) -> None:
    spoken = windows.speakable(text)
    spoken.encode()
    if not any("\ud800" <= character <= "\udfff" for character in text):
        assert spoken == text
