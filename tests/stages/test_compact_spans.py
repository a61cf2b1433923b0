"""The facts of a text, the certificate of a summary, and its pins."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.growth import grows_with_length

from libravdb_memory.compact.certificate import Certificate, Fact, certified, certify, facts, pins
from libravdb_memory.compact.preserve import tokens_of
from libravdb_memory.compact.settings import CompactionSettings
from libravdb_memory.compact.spans import Kind, folded, holds, spans
from libravdb_memory.tokens import EstimatingCounter

SETTINGS = CompactionSettings()
COUNTER = EstimatingCounter()


class CharacterCounter:
    """One token a character: prices that can be reckoned by hand."""

    id = "characters"

    def count(self, text: str) -> int:
        return len(text)


TELLING = st.sampled_from(
    "8443 |30 s |60_000 ms |/etc/x.conf |src/a.py:88 |https://a.b/c |LED-212 |pool_size=10 |9c41e7a |not touch it |"
    "2026-03-03T09:25:41Z |March 3, 2026 |5 p.m. |Marit Solheim |@okan |never again |`FINAL` |10 000 |$1,200 |"
    "v1.2.3 |10.0.0.1:80 |--flag |#41 |日本語は8443 |не трогать |不要改 |\n1. |and so on, ".split("|")
)
texts = st.lists(st.one_of(TELLING, st.text(max_size=10)), max_size=15).map("".join)


def found(text: str, kind: Kind) -> list[str]:
    return [span.text for span in spans(text) if span.kind == kind]


@given(texts)
def test_spans_are_what_the_text_says_there(text: str) -> None:
    every = spans(text)
    assert all(span.text == text[span.start : span.end] != "" for span in every)
    assert all(span.text == span.text.strip() and span.key for span in every)
    plain = [span for span in every if span.kind != "negation"]
    assert all(one.end <= two.start for one, two in pairwise(plain))
    assert list(every) == sorted(every, key=lambda span: (span.start, span.end))


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("identifier", "set MAX_DRIFT_MS, poolSize and a::b to x", "MAX_DRIFT_MS|poolSize|a::b"),
        ("identifier", "LED-212 at 9c41e7a, see #41 and `FINAL`.", "LED-212|9c41e7a|#41|FINAL"),
        ("identifier", "group.initial.delay is v1.2.3 on 10.0.0.1:80", "group.initial.delay|v1.2.3|10.0.0.1:80"),
        ("identifier", "run it --since=60h -r now", "--since=60h"),
        ("identifier", "sed -n 35,90p, pytest -q -m slow --tb=short", "--tb=short"),
        ("identifier", "bus 90p and gate 12b", "90p|12b"),
        ("path", "src/api/hooks.py:41:async def hook(request):", "src/api/hooks.py:41"),
        (
            "path",
            "C:\\src\\a.py:7:def and a/b:12:5:x and conf/nginx.conf:worker",
            "C:\\src\\a.py:7|a/b:12:5|conf/nginx.conf",
        ),
        ("path", "tests/test_a.py::test_dup and img/x:1.2:z", "tests/test_a.py::test_dup|img/x:1.2:z"),
        ("identifier", "src/retry.py:12:WEBHOOK_RETRIES = 5 on host:8080:tcp", "WEBHOOK_RETRIES|host:8080:tcp"),
        ("identifier", "e.g. the U.S. plan, and so i.e. on a-b", ""),
        (
            "path",
            "in crates/ingest/src/x.rs:88 or ~/notes and README.md.",
            "crates/ingest/src/x.rs:88|~/notes|README.md",
        ),
        ("path", "POST /v1/push, C:\\tmp\\a and ./run", "/v1/push|C:\\tmp\\a|./run"),
        ("path", "red/green/blue are folders", "red/green/blue"),
        ("path", "and/or he/she client/server 12/05", ""),
        ("url", "at https://a.b/c?d=e. Or me@x.org, www.y.de/z!", "https://a.b/c?d=e|me@x.org|www.y.de/z"),
        (
            "number",
            "port 8443, 30 s, 60_000 ms, 98.7%, $1,200 and ~2 minutes",
            "8443|30 s|60_000 ms|98.7%|$1,200|~2 minutes",
        ),
        ("number", "10 000 rows in 60-120s, -5 °C, 6/s, the 24th, :8081", "10 000 rows|60-120s|-5 °C|6/s|24th|8081"),
        ("number", "1. one\n2) two\n- 3. three", ""),
        ("number", "5. Five of 6", "6"),
        (
            "date",
            "on 2026-03-03T09:25:41Z, March 3, 2026, 3 March and last week",
            "2026-03-03T09:25:41Z|March 3, 2026|3 March|last week",
        ),
        ("date", "thursday 14:30 UTC or 5 p.m. in May, two days ago", "thursday|14:30 UTC|5 p.m|May|two days ago"),
        ("date", "am 3. März, 5 марта, 2026年3月5日", "3. März|5 марта|2026年3月5日"),
        ("date", "march on, may it be 1.2.3", ""),
        ("name", "Today Marit Solheim asked @okan about Redis.", "Marit Solheim|@okan|Redis"),
        ("name", "Marit left. Then I went.", ""),
        ("name", "- Make it so\n1. How about that\n* If so, use Redis\n## Words of it\n=== FAILURES ===", "Redis"),
        ("name", "a.py:30: error: Argument 1 is wrong\nFound 1 error; note: The rest is fine", ""),
        (
            "name",
            "she asked: What do you mean by it? whoever is on call: Aiko. and who reads it: Tomasz, with (Marit) too",
            "Aiko|Tomasz|Marit",
        ),
        ("name", "it returns Response(200) to Stripe", "Stripe"),
        ("name", "and he said What, then How and Why", ""),
        ("name", "Der Hund und die Katze sehen den Baum am Haus.", ""),
        ("negation", "We did not touch it, never force-push to the main one.", "not touch|never force-push"),
        ("negation", "It doesn't retry; no pooler planned. Knot nothing.", "doesn't retry|no pooler planned"),
        ("negation", "Don't worry about it, no hurry, kein Problem, 没问题, no idea.", ""),
        (
            "negation",
            "calls it without checking event.id, never app.py again.",
            "without checking event.id|never app.py again",
        ),
        ("negation", "Мы не трогали это, 不要改动", "не трогали это|不要改动"),
    ],
)
def test_facts_of_each_kind_are_found(kind: Kind, text: str, expected: str) -> None:
    assert "|".join(found(text, kind)) == expected


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("waits 60_000 ms", "waits 60,000 ms"),
        ("waits 30 seconds", "waits 30s"),
        ("waits 2 hours", "waits 2 h"),
        ("a 30-day limit", "a 30 days limit"),
        ("has 10 000 rows", "has 10,000 rows"),
        ("about ~500 MB", "about 500 MB"),
        ("see `pool_size`", "see POOL_SIZE"),
        ("see https://a.b/c/", "see https://A.b/c"),
        ("we did not touch it", "we never touch it"),
        ("on Monday", "on monday"),
    ],
)
def test_two_spellings_are_one_fact(one: str, two: str) -> None:
    assert [fact.key for fact in facts([one])] == [fact.key for fact in facts([two])] != []
    assert certify([one], two).missing == ()


@pytest.mark.parametrize(
    ("source", "summary"),
    [
        ("waits 30 s", "waits 30 min"),
        ("port 8443", "port 18443"),
        ("port 8443", "port 8443.5"),
        ("ticket LED-21", "ticket LED-212"),
        ("v1.2.3 runs", "v1.2.34 runs"),
        ("did not touch it", "did touch it"),
        ("on 3 March", "on 4 March"),
        ("max_connections counts", "max_connections_total counts"),
    ],
)
def test_a_near_miss_is_a_loss(source: str, summary: str) -> None:
    assert len(certify([source], summary).missing) == 1


@given(texts)
def test_a_text_keeps_all_of_its_own_facts(text: str) -> None:
    whole = certify([text], text)
    assert whole.missing == () and whole.share == 1.0


@given(st.lists(texts, max_size=4), texts)
def test_every_fact_is_kept_or_missing_once(sources: list[str], summary: str) -> None:
    made = certify(sources, summary)
    every = facts(sources)
    assert sorted(map(repr, made.kept + made.missing)) == sorted(map(repr, every))
    assert len({(fact.kind, fact.key) for fact in every}) == len(every)
    assert 0.0 <= made.share <= 1.0
    if not summary:
        assert made.kept == ()


def test_the_share_counts_each_fact_once() -> None:
    made = certify(["port 8443 in /etc/x for LED-212, /etc/x again"], "only 8443 is said")
    assert made.share == pytest.approx(1 / 3)
    assert [fact.count for fact in made.missing] == [2, 1]


def test_the_share_at_the_threshold_needs_no_pins_and_below_it_does() -> None:
    half = Certificate((Fact("number", "81", "81"),), (Fact("number", "82", "82"),))
    assert pins(half, "s", 1000, CompactionSettings(certificate_threshold=0.5), COUNTER).text == ""
    assert pins(half, "s", 1000, CompactionSettings(certificate_threshold=0.51), COUNTER).text == "pinned: 82"


def test_pins_name_identifiers_first_and_lone_digits_last() -> None:
    source = "3 of us, never again, Marit and Okan, at 14:30 on port 8443, in /etc/x for LED-212, LED-212 and /b/c too"
    made = certify([f"so {source}"], "nothing")
    assert pins(made, "", 1000, SETTINGS, COUNTER).text == (
        "pinned: LED-212, /etc/x, /b/c, 14:30, 8443, Marit, Okan, never again, 3"
    )


def test_what_a_longer_pin_says_is_not_said_twice() -> None:
    made = certify(["see posting.py in app/ledger/posting.py, pool_size=10, 10 and not 77"], "")
    pinned = pins(made, "", 1000, SETTINGS, COUNTER)
    assert pinned.text == "pinned: app/ledger/posting.py, pool_size=10, 77, not 77"
    assert {fact.text for fact in pinned.pinned} == {
        "posting.py",
        "app/ledger/posting.py",
        "pool_size=10",
        "10",
        "77",
        "not 77",
    }
    assert pinned.dropped == ()


def test_pins_fill_their_share_of_the_sources_to_the_token_and_not_beyond() -> None:
    made = certify(["A-1, B-2, C-3"], "s")
    with_two = len("\npinned: A-1, B-2")
    counter = CharacterCounter()
    settings = CompactionSettings(pin_share=0.5)
    fitting = pins(made, "s", 2 * with_two, settings, counter)
    assert [fact.text for fact in fitting.pinned] == ["A-1", "B-2"] and [fact.text for fact in fitting.dropped] == [
        "C-3"
    ]
    assert [fact.text for fact in pins(made, "s", 2 * with_two - 2, settings, counter).pinned] == ["A-1"]


def test_pins_of_a_log_are_bounded_however_long_it_is() -> None:
    log = " ".join(f"job-{number:05}" for number in range(4000))
    settings = CompactionSettings(pin_tokens=100)
    for one in (settings, settings.of_folds):
        made = pins(certify([log], "s"), "s", 10**6, one, CharacterCounter())
        assert 60 <= len(made.text) <= one.pin_tokens
        assert len(made.pinned) + len(made.dropped) == 4000


def test_pins_never_make_a_node_as_large_as_its_sources() -> None:
    made = certify(["A-1, B-2, C-3"], "s")
    counter, settings = CharacterCounter(), CompactionSettings(pin_share=1.0)
    needed = len("s\npinned: A-1, B-2, C-3")
    assert pins(made, "s", needed + 1, settings, counter).dropped == ()
    assert len(pins(made, "s", needed, settings, counter).dropped) == 1


@example(
    ["8443 8443 8443 8443 8443 8443 8443 8443 8443 30 s 2026-03-03T09:25:41Z 0A", "8443 À日本語は8443 /etc/x.conf "],
    "8443 À日本語は8443 ",
)
@given(st.lists(texts, min_size=1, max_size=6), texts)
def test_a_certified_summary_is_smaller_than_its_sources_if_the_bare_one_was(sources: list[str], summary: str) -> None:
    made = certified(sources, summary, SETTINGS, COUNTER)
    bare, source = COUNTER.count(summary), tokens_of(sources, COUNTER)
    assert made.tokens == COUNTER.count(made.text) and made.text.startswith(summary)
    assert made.tokens - bare <= source // 2
    if bare < source:
        assert made.tokens < source
    after = certify(sources, made.text)
    pinned = set(made.pins.pinned)
    assert pinned <= set(after.kept) and set(made.certificate.kept) <= set(after.kept)
    assert set(made.pins.pinned) | set(made.pins.dropped) in (set(made.certificate.missing), set())


def test_a_fact_is_held_as_a_whole_only() -> None:
    assert holds("port 8443.", "8443") and holds("a=8443", "8443") and holds("x/8443/y", "8443")
    assert not holds("18443", "8443") and not holds("8443_b", "8443") and not holds("8443.1", "8443")
    assert holds("18443 8443", "8443") and not holds("", "8443") and not holds("x", "")
    assert folded(" A `B`\tc ") == "a b c"


@pytest.mark.parametrize(
    "unit",
    [
        "a.b",
        "1.2.",
        "x_",
        "/a",
        "not a ",
        "A ",
        "12:",
        "`a",
        "http://",
        "March 3, ",
        "-a",
        "不没",
        "1 000 ",
        "a/b:1:",
        "a.py:",
        "1,2",
        "A: B c. ",
        "not a.b ",
    ],
)
def test_time_grows_with_the_length_alone(unit: str) -> None:
    assert grows_with_length(spans, unit, 3_000)
