"""The text that Prometheus reads, seen by a strict reader."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.serve import prometheus_text

from libravdb_memory.serve.exposition import Family, Sample, text_of
from libravdb_memory.serve.metrics import COUNTERS, Metrics

FIGURES = st.one_of(st.integers(-(2**53), 2**53), st.floats(allow_nan=False))


@given(st.text(max_size=30), st.text(max_size=30), FIGURES)
def test_whatever_stands_in_a_label_or_a_help_is_read_back_unchanged(label: str, help_text: str, value: float) -> None:
    family = Family("some_figure", "gauge", f".{help_text}", (Sample(value, (("of", label),)),))
    found = prometheus_text.read(text_of([family]))["some_figure"]
    assert found.help == f".{help_text}" and found.value(of=label) == value


def test_a_family_without_samples_is_not_told() -> None:
    assert text_of([Family("nothing", "gauge", "None.", ())]) == ""


@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), st.floats(0, 100), st.sampled_from(["", "store", "internal"]))))
def test_every_call_is_in_one_histogram_and_every_failure_in_its_kind(calls: list[tuple[str, float, str]]) -> None:
    metrics = Metrics()
    for method, seconds, kind in calls:
        metrics.called(method, seconds, failed=bool(kind), kind=kind)
    found = prometheus_text.read(metrics.text())
    for method in {method for method, _, _ in calls}:
        mine = [call for call in calls if call[0] == method]
        assert found["libravdb_call_seconds"].value("_count", method=method) == len(mine)
        assert found["libravdb_call_failures_total"].value(method=method) == sum(bool(kind) for _, _, kind in mine)
    assert found["libravdb_failures_total"].value(kind="internal") == sum(kind == "internal" for _, _, kind in calls)
    assert all(found[f"libravdb_{name}_total"].value() == 0 for name in COUNTERS)


def test_a_figure_that_is_read_when_asked_is_read_then() -> None:
    metrics, size = Metrics(), [1]
    metrics.gauge("size", lambda: size[0], "How many.")
    size[0] = 7
    assert prometheus_text.read(metrics.text())["libravdb_size"].value() == 7
