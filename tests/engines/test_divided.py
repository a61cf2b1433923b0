"""Texts shared among threads have the vectors that they have anyway."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.engines.divided import DividedEmbedder, _divided
from libravdb_memory.engines.hashed import HashedEmbedder


@given(st.lists(st.text(max_size=30), max_size=200), st.integers(1, 5))
def test_the_vectors_are_those_of_the_embedder_in_order(texts: list[str], threads: int) -> None:
    plain = HashedEmbedder()
    assert np.array_equal(DividedEmbedder(plain, threads).embed_documents(texts), plain.embed_documents(texts))


@given(st.lists(st.integers(0, 500), min_size=1, max_size=300), st.integers(1, 5))
def test_every_text_is_in_one_share_and_those_of_a_length_are_neighbours(lengths: list[int], shares: int) -> None:
    divided = _divided(lengths, shares)
    assert sorted(place for share in divided for place in share) == list(range(len(lengths)))
    assert [lengths[place] for share in divided for place in share] == sorted(lengths)
    assert 1 <= len(divided) <= shares
