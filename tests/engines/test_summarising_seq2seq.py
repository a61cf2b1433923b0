"""The local summariser on a tiny real model in every layout, checked against the same arithmetic done in numpy."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, get_args

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper
from tests.engines.tiny_seq2seq import (
    END,
    LAYERS,
    VOCABULARY,
    WORDS,
    Layout,
    Reference,
    decoder_file,
    make_weights,
    write_tiny,
)

from libravdb_memory.compact.views import View
from libravdb_memory.engines.manifest_values import sha256_of
from libravdb_memory.engines.summarising.greedy import Seq2SeqModel
from libravdb_memory.engines.summarising.protocol import SummaryRequest
from libravdb_memory.engines.summarising.seq2seq import Seq2SeqSummariser
from libravdb_memory.engines.summarising.seq2seq_manifest import read_seq2seq_manifest
from libravdb_memory.errors import AnswerUnusableError, CallCancelledError, ModelUnavailableError, TextRefusedError
from libravdb_memory.spent import Spent

LAYOUTS = get_args(Layout)
STEPS = 16
TURNS = ("user the user wants green tea not coffee", "assistant billing moves to port before friday")


def view(turn: str) -> View:
    speaker, colon, said = turn.partition(": ")
    return View(said, speaker) if colon else View(turn)


def request(*turns: str, tokens: int = 64) -> SummaryRequest:
    """The model's weights are chance: whatever it says counts as noted before, which it is not shown."""
    return SummaryRequest(tuple(map(view, turns or TURNS)), " ".join(VOCABULARY), tokens, 0.4)


def never() -> bool:
    return False


def ids_of(*words: str) -> tuple[int, ...]:
    return (*(VOCABULARY.get(word, 2) for word in words), END)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Seq2SeqModel]:
    def load(layout: Layout) -> Seq2SeqModel:
        return Seq2SeqModel(read_seq2seq_manifest(write_tiny(tmp_path_factory.mktemp(layout), layout)), 1)

    return {layout: load(layout) for layout in LAYOUTS}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_decodes_token_by_token_as_without_a_cache(models: dict[str, Seq2SeqModel], layout: str) -> None:
    reference = Reference(make_weights())

    @settings(deadline=None, max_examples=40)
    @given(words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=12))
    def check(words: list[str]) -> None:
        expected = reference.steps(ids_of(*words), STEPS)
        found = list(itertools.islice(models[layout].steps(ids_of(*words)), len(expected)))
        assert [step.token for step in found] == [token for token, _ in expected]
        np.testing.assert_allclose([step.log_p for step in found], [log_p for _, log_p in expected], atol=1e-3)

    check()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_summary_is_what_the_model_wrote_up_to_its_end_mark(tmp_path: Path, layout: Layout) -> None:
    summariser = Seq2SeqSummariser(write_tiny(tmp_path / "tiny", layout))
    summary = summariser.summarise(request(), never)
    ids = ids_of(*" ".join(TURNS).split())
    steps = Reference(make_weights()).steps(ids, STEPS)
    end = [token for token, _ in steps].index(END)
    names = list(VOCABULARY)
    assert summary.text == " ".join(names[token] for token, _ in steps[:end])
    assert summary.confidence == pytest.approx(
        math.exp(sum(log_p for _, log_p in steps[: end + 1]) / (end + 1)), abs=1e-4
    )
    assert 0 < (summary.confidence or 0) < 1
    assert (summary.tokens_in, summary.tokens_out, summary.engine) == (len(ids), end + 1, "onnx-local:tiny")


def test_the_same_request_gives_the_same_summary_from_any_thread(tmp_path: Path) -> None:
    summariser = Seq2SeqSummariser(write_tiny(tmp_path))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: summariser.summarise(request(), never), range(8)))
    assert len(set(found)) == 1


def test_the_prefix_stands_before_the_turns(tmp_path: Path) -> None:
    summariser = Seq2SeqSummariser(write_tiny(tmp_path, prefix="release notes: "))
    plain = Seq2SeqSummariser(write_tiny(tmp_path / "plain"))
    assert summariser.summarise(request(), never).tokens_in == plain.summarise(request(), never).tokens_in + 2


def test_a_turn_cannot_place_an_end_mark_by_spelling_it_out(models: dict[str, Seq2SeqModel]) -> None:
    assert models["plain"].tokens("tea </s> <pad> tea") == [VOCABULARY["tea"], VOCABULARY["tea"]]


def test_turns_longer_than_the_input_lose_their_middle(tmp_path: Path) -> None:
    summariser = Seq2SeqSummariser(write_tiny(tmp_path, max_input_tokens=24))
    long = "user " + "green tea " * 60 + "friday"
    assert summariser.summarise(request(TURNS[1], long), never).tokens_in <= 24
    with pytest.raises(TextRefusedError, match="5 turns do not fit into its 24 tokens"):
        summariser.summarise(request(*[long] * 5), never)


def test_a_model_that_does_not_come_to_an_end_gives_nothing(tmp_path: Path) -> None:
    weights = make_weights()
    weights["bias"][END] = -1000
    summariser = Seq2SeqSummariser(write_tiny(tmp_path, weights=weights, max_new_tokens=12))
    with pytest.raises(AnswerUnusableError, match="did not come to an end in 12 tokens") as caught:
        summariser.summarise(request(), never)
    read = Seq2SeqSummariser(write_tiny(tmp_path / "ends")).summarise(request(), never).tokens_in
    assert caught.value.spent == Spent(1, read, 12)
    with pytest.raises(AnswerUnusableError, match="did not come to an end in 8 tokens"):
        summariser.summarise(request(tokens=2), never)


def test_the_end_mark_may_be_the_last_token_allowed(tmp_path: Path) -> None:
    summary = Seq2SeqSummariser(write_tiny(tmp_path / "whole")).summarise(request(), never)
    just = write_tiny(tmp_path / "just", max_new_tokens=summary.tokens_out)
    assert Seq2SeqSummariser(just).summarise(request(), never).text == summary.text
    with pytest.raises(AnswerUnusableError, match="did not come to an end"):
        Seq2SeqSummariser(write_tiny(tmp_path / "less", max_new_tokens=summary.tokens_out - 1)).summarise(
            request(), never
        )


def test_a_model_that_ends_at_once_gives_nothing(tmp_path: Path) -> None:
    weights = make_weights()
    weights["bias"][END] = 1000
    with pytest.raises(AnswerUnusableError, match="it is empty"):
        Seq2SeqSummariser(write_tiny(tmp_path, weights=weights)).summarise(request(), never)


# ── cancelling and loading ───────────────────────────────────────────────────────────────────────────────────────


def test_a_call_can_be_cancelled_between_any_two_tokens(tmp_path: Path) -> None:
    summariser = Seq2SeqSummariser(write_tiny(tmp_path))
    written = summariser.summarise(request(), never).tokens_out
    for patience in range(written):
        asked = iter([*[False] * patience, True])
        with pytest.raises(CallCancelledError) as caught:
            summariser.summarise(request(), lambda asked=asked: next(asked))  # type: ignore[misc]
        assert (caught.value.spent.calls, caught.value.spent.tokens_out) == (min(patience, 1), patience)
    asked = iter([*[False] * written])
    assert summariser.summarise(request(), lambda: next(asked)).tokens_out == written


def test_what_is_cancelled_before_it_begins_loads_nothing(tmp_path: Path) -> None:
    summariser = Seq2SeqSummariser(write_tiny(tmp_path))
    with pytest.raises(CallCancelledError):
        summariser.summarise(request(), lambda: True)
    assert not summariser.ready


def test_loading_waits_for_the_first_use_and_can_be_undone(tmp_path: Path) -> None:
    summariser = Seq2SeqSummariser(write_tiny(tmp_path / "tiny"))
    assert (summariser.ready, summariser.name) == (False, "onnx-local:tiny")
    summariser.warm_up()
    assert summariser.ready
    first = summariser.summarise(request(), never)
    summariser.close()
    assert not summariser.ready
    assert summariser.summarise(request(), never) == first


# ── folders that do not hold ─────────────────────────────────────────────────────────────────────────────────────


def test_a_folder_without_a_manifest_is_unavailable(tmp_path: Path) -> None:
    summariser = Seq2SeqSummariser(tmp_path / "nowhere")
    with pytest.raises(ModelUnavailableError, match=r"it has no manifest\.toml"):
        summariser.summarise(request(), never)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"temperature": 0}, "temperature in .*unknown key; known: model, prefix"),
        ({"model": ""}, "model in .*is missing"),
        ({"max_input_tokens": 0}, "max_input_tokens in .*above 0"),
        ({"max_new_tokens": True}, "max_new_tokens in .*above 0"),
        ({"end_token_id": -1}, "end_token_id in .*0 or more"),
        ({"start_token_id": False}, "start_token_id in .*0 or more"),
        ({"encoder_file": "../encoder_model.onnx"}, "encoder_file in .*must name a file in the folder"),
        ({"decoder_with_past_file": "/etc/passwd"}, "decoder_with_past_file in .*must name a file in the folder"),
        ({"decoder_with_past_file": 0}, "decoder_with_past_file in .*must be a string"),
        ({"decoder_file": "other.onnx"}, r"other\.onnx is missing"),
        ({"start_token_id": 1000}, "it failed"),
    ],
)
def test_a_manifest_that_does_not_hold_makes_the_model_unavailable(
    tmp_path: Path, keys: dict[str, Any], message: str
) -> None:
    with pytest.raises(ModelUnavailableError, match=message):
        Seq2SeqSummariser(write_tiny(tmp_path, **keys)).warm_up()


def test_files_are_held_to_their_pinned_hashes(tmp_path: Path) -> None:
    folder = write_tiny(tmp_path)
    names = ["encoder_model.onnx", "decoder_model.onnx", "decoder_with_past_model.onnx", "tokenizer.json"]
    pins = "\n".join(f'"{name}" = "{sha256_of(folder / name)}"' for name in names)
    with (folder / "manifest.toml").open("a", encoding="utf-8") as manifest:
        manifest.write(f"\n[files]\n{pins}\n")
    Seq2SeqSummariser(folder).warm_up()
    for name in names:
        whole = (folder / name).read_bytes()
        (folder / name).write_bytes(whole + b"\n")
        with pytest.raises(ModelUnavailableError, match=f"{name} is not the file"):
            Seq2SeqSummariser(folder).warm_up()
        (folder / name).write_bytes(whole)


def test_files_that_are_no_model_are_said(tmp_path: Path) -> None:
    folder = write_tiny(tmp_path)
    (folder / "decoder_model.onnx").write_bytes(b"not a model")
    with pytest.raises(ModelUnavailableError, match=r"decoder_model\.onnx cannot be loaded"):
        Seq2SeqSummariser(folder).warm_up()
    (folder / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ModelUnavailableError, match="is not a tokenizer"):
        Seq2SeqSummariser(folder).warm_up()


Change = Callable[[Any], None]


def rename(old: str, new: str) -> Change:
    def change(model: Any) -> None:
        for node in model.graph.node:
            for names in (node.input, node.output):
                names[:] = [new if name == old else name for name in names]
        for info in (*model.graph.input, *model.graph.output):
            info.name = new if info.name == old else info.name

    return change


def keep_the_logits_only(model: Any) -> None:
    del model.graph.output[1 : 1 + 4 * LAYERS]


def flatten_the_logits(model: Any) -> None:
    model.graph.node.append(helper.make_node("Flatten", ["logits"], ["flat"]))
    rename("logits", "deep")(model)
    rename("flat", "logits")(model)
    model.graph.output[0].type.tensor_type.shape.dim.pop()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (rename("encoder_attention_mask", "cache_position"), "wants an input 'cache_position'"),
        (rename("logits", "scores"), "gives no logits"),
        (flatten_the_logits, "gives no logits"),
        (keep_the_logits_only, "it failed"),
    ],
)
def test_a_decoder_of_an_unknown_form_is_refused_when_loading(tmp_path: Path, change: Change, message: str) -> None:
    folder = write_tiny(tmp_path)
    model = onnx.load_from_string(decoder_file(make_weights()))
    change(model)
    (folder / "decoder_model.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(ModelUnavailableError, match=message):
        Seq2SeqSummariser(folder).warm_up()


def test_a_merged_decoder_whose_cache_has_no_size_is_refused(tmp_path: Path) -> None:
    folder = write_tiny(tmp_path, "merged")
    model = onnx.load(folder / "decoder_model.onnx")
    for info in model.graph.input:
        if info.name.startswith("past_key_values"):
            info.type.tensor_type.shape.dim[1].dim_param = "heads"
    onnx.save(model, folder / "decoder_model.onnx")
    with pytest.raises(ModelUnavailableError, match="which says too little"):
        Seq2SeqSummariser(folder).warm_up()


def test_a_text_on_which_the_model_breaks_down_is_refused(tmp_path: Path) -> None:
    weights = make_weights()
    weights["words"][VOCABULARY["coffee"]] = np.nan
    summariser = Seq2SeqSummariser(write_tiny(tmp_path, weights=weights))
    with pytest.raises(TextRefusedError, match="not finite"):
        summariser.summarise(request("user wants coffee", "assistant not tea"), never)
    assert summariser.summarise(request("user wants green tea", "assistant billing moves"), never).text
