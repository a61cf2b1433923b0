"""The laws of token rows: which tokens count, what their rows are, and what they may depend on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from libravdb_memory.bench.texts import conversation
from libravdb_memory.engines.manifest import read_manifest
from libravdb_memory.engines.manifest_values import sha256_of
from libravdb_memory.engines.onnx import BUNDLED, OnnxEmbedder
from libravdb_memory.engines.projection import MOST_TOKENS, UNIT, carries_meaning, load_projection
from libravdb_memory.engines.protocol import TOKEN_DIMENSIONS, TokenEmbedder, TokenRows, token_rows
from libravdb_memory.engines.vectors import product
from libravdb_memory.errors import ModelUnavailableError, TextRefusedError
from libravdb_memory.retrieve.query import STOP_WORDS

HIDDEN = 12
AXES = np.random.default_rng(6).normal(size=(HIDDEN + 1, TOKEN_DIMENSIONS)).astype(np.float16)
# Rounding moves each of 128 components by half a step at most.
ROUNDING = 0.5 * np.sqrt(TOKEN_DIMENSIONS) / UNIT

few = settings(max_examples=25, deadline=None)
words = st.sampled_from(
    [*sorted(STOP_WORDS)[:40], "violin", "unreachable", "Lisbon", "127.0.0.1", "C++", "?", "…", "été"]
)
sentences = st.lists(words, max_size=30).map(" ".join)
any_text = st.text(st.characters(exclude_categories=()), max_size=60)


def as_vectors(found: TokenRows) -> Any:
    return found.rows.astype(np.float64) / UNIT


def tokens_of(text: str) -> Any:
    tokenizer = Tokenizer.from_file(str(BUNDLED / "tokenizer.json"))
    return tokenizer.encode(text, add_special_tokens=False)


# ── bytes ────────────────────────────────────────────────────────────────────────────────────────────────────────


@given(count=st.integers(0, 20), dimensions=st.integers(1, 200), seed=st.integers(0, 2**32 - 1))
def test_rows_survive_the_way_through_bytes(count: int, dimensions: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    ids = random.integers(0, 2**16, count).astype(np.uint16)
    rows = random.integers(-127, 128, (count, dimensions)).astype(np.int8)
    data = TokenRows(ids, rows).to_bytes()
    found = token_rows(data, dimensions)
    assert len(data) == count * (2 + dimensions)
    assert (found.ids.dtype, found.rows.dtype, found.rows.shape) == (np.uint16, np.int8, (count, dimensions))
    np.testing.assert_array_equal(found.ids, ids)
    np.testing.assert_array_equal(found.rows, rows)


def test_no_token_is_no_byte() -> None:
    assert token_rows(b"").to_bytes() == b""


@pytest.mark.parametrize("size", [1, 129, 131, 259])
def test_bytes_of_another_length_are_refused(size: int) -> None:
    with pytest.raises(ValueError, match=f"{size} bytes"):
        token_rows(b"x" * size)


def test_an_id_without_a_row_is_refused() -> None:
    with pytest.raises(ValueError, match="one row for each id"):
        TokenRows(np.zeros(2, np.uint16), np.zeros((1, 128), np.int8))


# ── which tokens ─────────────────────────────────────────────────────────────────────────────────────────────────


@few
@given(text=sentences)
@example(text="Where did we put the keys?")
def test_ids_are_the_tokens_of_the_text_that_carry_meaning(bundled: OnnxEmbedder, text: str) -> None:
    own = tokens_of(text)
    told = [place for place, token in zip(own.ids, own.tokens, strict=True) if carries_meaning(token)]
    expected = told if any(map(carries_meaning, own.tokens[:MOST_TOKENS])) else own.ids
    _, (found,) = bundled.read_documents([text])
    assert found.ids.tolist() == expected[:MOST_TOKENS]


@pytest.mark.parametrize("token", ["the", "The", "▁the", "Ġthe", "?", "##?", "…", "+", "$", "`", "##™", ""])
def test_stop_words_and_signs_carry_no_meaning(token: str) -> None:
    assert not carries_meaning(token)


@pytest.mark.parametrize("token", ["violin", "##s", "7", "été", "雨", "##ा", "[UNK]"])
def test_words_parts_of_words_and_numbers_carry_meaning(token: str) -> None:
    assert carries_meaning(token)


@pytest.mark.parametrize("text", ["who was it", "?!", "to be or not to be?"])
def test_a_text_of_nothing_but_stop_words_keeps_them(bundled: OnnxEmbedder, text: str) -> None:
    _, found = bundled.read_query(text)
    assert found.ids.tolist() == tokens_of(text).ids


@pytest.mark.parametrize("text", ["", " \n\t", "\x00", "\u200b"])
def test_a_text_without_tokens_has_no_rows(bundled: OnnxEmbedder, text: str) -> None:
    vectors, (beside, found) = bundled.read_documents(["something", text])
    assert len(found) == 0
    assert found.rows.shape == (0, TOKEN_DIMENSIONS)
    assert not vectors[1].any()
    assert len(beside) == 1


def test_a_text_of_a_megabyte_is_read_by_its_beginning(bundled: OnnxEmbedder) -> None:
    beginning = "violin concert in Lisbon " * 60
    vector, found = bundled.read_query(beginning + "more words follow here " * 45_000)
    assert len(found) < MOST_TOKENS
    assert found.ids.tolist() == [
        place for place in tokens_of(beginning).ids[:MOST_TOKENS] if place != tokens_of("in").ids[0]
    ]
    assert abs(float(np.linalg.norm(vector)) - 1) < 1e-4


def test_the_prefix_is_no_token_of_the_text(make_tiny: Any) -> None:
    tiny = make_tiny(axes=AXES, query_prefix="query: ", document_prefix="doc: ")
    engine = OnnxEmbedder(tiny.folder)
    _, query = engine.read_query("xyz")
    _, (document,) = engine.read_documents(["xyz"])
    assert query.ids.tolist() == document.ids.tolist() == tiny.ids("xyz")
    np.testing.assert_allclose(query.rows, by_hand(tiny, "query:", "xyz"), atol=1)
    np.testing.assert_allclose(document.rows, by_hand(tiny, "doc:", "xyz"), atol=1)


# ── what a row is ────────────────────────────────────────────────────────────────────────────────────────────────


def by_hand(tiny: Any, prefix: str, text: str) -> Any:
    lead = tiny.ids(prefix)
    own = tiny.hidden(lead + tiny.ids(text))[1 + len(lead) : -1]
    wide = AXES.astype(np.float64)
    projected = own @ wide[:-1] + wide[-1]
    return np.rint(projected / np.linalg.norm(projected, axis=1, keepdims=True) * UNIT)


@pytest.mark.parametrize("variant", ["tokens", "types"])
@pytest.mark.parametrize("pooling", ["mean", "cls", "last"])
def test_a_row_is_the_projected_hidden_state(make_tiny: Any, variant: str, pooling: str) -> None:
    tiny = make_tiny(variant, axes=AXES, pooling=pooling)
    _, found = OnnxEmbedder(tiny.folder).read_documents(["bcdef", "longwordxyz", "b"])
    for text, rows in zip(["bcdef", "longwordxyz", "b"], found, strict=True):
        kept = [place for place, letter in enumerate(text) if carries_meaning(letter)]
        assert rows.ids.tolist() == [tiny.ids(text)[place] for place in kept]
        np.testing.assert_allclose(rows.rows, by_hand(tiny, "", text)[kept], atol=1)


@few
@given(text=sentences | any_text)
def test_rows_have_length_one_within_rounding(bundled: OnnxEmbedder, text: str) -> None:
    _, found = bundled.read_query(text)
    assert np.all(np.abs(np.linalg.norm(as_vectors(found), axis=1) - 1) <= ROUNDING)


def test_the_same_word_in_another_text_is_nearer_than_other_words(bundled: OnnxEmbedder) -> None:
    _, query = bundled.read_query("a violin concert")
    _, (near, far) = bundled.read_documents(["My sister plays the violin", "The build fails on main"])
    best = (as_vectors(query) @ as_vectors(near).T).max(axis=1)
    other = (as_vectors(query) @ as_vectors(far).T).max(axis=1)
    assert np.all(best > other + 0.1)


@given(count=st.integers(0, 23), seed=st.integers(0, 2**32 - 1))
def test_a_product_by_blocks_is_the_product(count: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    rows, matrix = (random.normal(size=shape).astype(np.float32) for shape in ((count, 24), (24, 7)))
    np.testing.assert_allclose(product(rows, matrix), rows.astype(np.float64) @ matrix, atol=1e-5)


# ── what it may depend on ────────────────────────────────────────────────────────────────────────────────────────


def assert_independent(engine: TokenEmbedder, texts: list[str], largest: int) -> None:
    """Alone or together in any order; `largest` is the allowed difference in steps of int8."""
    together = engine.read_documents(texts)[1]
    backwards = engine.read_documents(texts[::-1])[1][::-1]
    for text, first, second in zip(texts, together, backwards, strict=True):
        (alone,) = engine.read_documents([text])[1]
        for other in (second, alone):
            np.testing.assert_array_equal(first.ids, other.ids)
            np.testing.assert_allclose(first.rows.astype(int), other.rows.astype(int), atol=largest)


@few
@given(texts=st.lists(sentences | any_text, max_size=6))
@example(texts=["a", "violin " * 500, "", "\ud800", "\x00", " violin"])
def test_rows_of_the_bundled_model_do_not_depend_on_the_texts_beside_them(
    bundled: OnnxEmbedder, texts: list[str]
) -> None:
    assert_independent(bundled, texts, 0)


@pytest.mark.parametrize("variant", ["tokens", "dynamic", "rounded"])
def test_rows_of_other_models_do_not_depend_on_the_texts_beside_them(make_tiny: Any, variant: str) -> None:
    engine = OnnxEmbedder(make_tiny(variant, axes=AXES, max_tokens=16).folder, batch_size=3)
    assert_independent(engine, ["bcd", "some longer text of several windows", "", "xyz", "b", "bce"], 1)


def test_pooled_vectors_are_the_same_bit_for_bit_with_and_without_rows(bundled: OnnxEmbedder) -> None:
    texts = [*conversation(40), "", "violin concert " * 400]
    plain, off = bundled.embed_documents(texts), OnnxEmbedder(token_vectors=False).embed_documents(texts)
    read, rows = bundled.read_documents(texts)
    np.testing.assert_array_equal(read, plain)
    np.testing.assert_array_equal(off, plain)
    assert len(rows) == len(texts)
    np.testing.assert_array_equal(bundled.read_query("a violin")[0], bundled.embed_query("a violin"))


def test_nothing_in_gives_nothing_out(bundled: OnnxEmbedder) -> None:
    vectors, rows = bundled.read_documents([])
    assert (vectors.shape, rows) == ((0, 384), [])


# ── identity ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_rule_follows_projection_and_model_and_the_space_only_the_model(make_tiny: Any) -> None:
    first, same = OnnxEmbedder(make_tiny(axes=AXES).folder), OnnxEmbedder(make_tiny(axes=AXES).folder)
    other_axes = OnnxEmbedder(make_tiny(axes=AXES + np.float16(1)).folder)
    other_model = OnnxEmbedder(make_tiny("types", axes=AXES).folder)
    other_prefix = OnnxEmbedder(make_tiny(axes=AXES, document_prefix="doc: ").folder)
    without = OnnxEmbedder(make_tiny().folder)
    assert first.token_rule.startswith("sha256:")
    assert first.token_rule == same.token_rule
    assert len({engine.token_rule for engine in (first, other_axes, other_model, other_prefix, without)}) == 5
    assert first.space == same.space == other_axes.space == without.space
    assert not first.ready


def test_a_recorded_hash_gives_the_rule_of_the_file(make_tiny: Any) -> None:
    tiny = make_tiny(axes=AXES)
    computed = OnnxEmbedder(tiny.folder).token_rule
    with (tiny.folder / "manifest.toml").open("a", encoding="utf-8") as file:
        file.write(f'\n[files]\n"tokens.npy" = "{sha256_of(tiny.folder / "tokens.npy")}"\n')
    assert OnnxEmbedder(tiny.folder).token_rule == computed


@pytest.mark.parametrize("switched_off", [True, False])
def test_an_engine_without_token_vectors_says_so_and_gives_none(make_tiny: Any, switched_off: bool) -> None:
    tiny = make_tiny(axes=AXES) if switched_off else make_tiny()
    engine = OnnxEmbedder(tiny.folder, token_vectors=not switched_off)
    vectors, found = engine.read_documents(["bcd", "xyz"])
    assert engine.token_rule == ""
    assert [len(rows) for rows in found] == [0, 0]
    np.testing.assert_array_equal(vectors, engine.embed_documents(["bcd", "xyz"]))
    assert len(engine.read_query("bcd")[1]) == 0


# ── how it fails ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "axes",
    [AXES[:-1], AXES[:, :-1], AXES.astype(np.float32), np.full_like(AXES, np.nan), np.array([object()])],
    ids=["no bias", "too narrow", "f32", "not finite", "pickled"],
)
def test_a_projection_that_does_not_fit_is_refused_when_the_model_is_loaded(make_tiny: Any, axes: Any) -> None:
    with pytest.raises(ModelUnavailableError, match=r"tokens\.npy"):
        OnnxEmbedder(make_tiny(axes=axes).folder).warm_up()


def test_a_damaged_or_missing_projection_is_named(make_tiny: Any) -> None:
    folder = make_tiny(axes=AXES).folder
    content = (folder / "tokens.npy").read_bytes()
    for damaged in (b"", content[:50], content[:-7]):
        (folder / "tokens.npy").write_bytes(damaged)
        with pytest.raises(ModelUnavailableError, match=r"tokens\.npy"):
            OnnxEmbedder(folder).warm_up()
    (folder / "tokens.npy").unlink()
    with pytest.raises(ModelUnavailableError, match=r"tokens\.npy is missing"):
        OnnxEmbedder(folder).warm_up()


def test_a_vocabulary_beyond_sixteen_bits_is_refused(make_tiny: Any) -> None:
    manifest = read_manifest(make_tiny(axes=AXES).folder)
    assert len(load_projection(manifest, ["x"] * 65_536).meaningful) == 65_536
    with pytest.raises(ModelUnavailableError, match="65,536 tokens"):
        load_projection(manifest, ["x"] * 65_537)


def test_a_text_with_a_token_that_is_no_number_is_refused_alone(make_tiny: Any) -> None:
    table = np.ones((80, HIDDEN), np.float32)
    (poisoned,) = make_tiny().ids("z")
    table[poisoned] = 3e38
    engine = OnnxEmbedder(make_tiny(table=table, axes=AXES, normalise=False).folder)
    with pytest.raises(TextRefusedError, match="not finite"):
        engine.read_query("zb")
    assert len(engine.read_query("bc")[1]) == 2
