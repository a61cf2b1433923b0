"""What is decided by a short answer, and what gives way to it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.extracts import extract
from tests.growth import grows_with_length, takes_eightfold

from libravdb_memory.compact import answer_signs
from libravdb_memory.compact.answers import answered, contrasts, echoes
from libravdb_memory.compact.changes import changes
from libravdb_memory.compact.judging import Judged, Sentence, Worth
from libravdb_memory.compact.salience import content_words, words
from libravdb_memory.compact.views import View
from libravdb_memory.compact.voices import spoken
from libravdb_memory.tokens import EstimatingCounter

COUNTER = EstimatingCounter()


def talk(*said: str) -> list[Sentence]:
    """ "user: …", one turn each."""
    turns = [text.partition(": ") for text in said]
    return spoken([View(text, speaker) for speaker, _, text in turns])


def signs_of_change(said: list[Sentence]) -> np.ndarray:  # type: ignore[type-arg]
    texts = [each.text for each in said]
    return changes(texts, [each.turn for each in said], [content_words(words(text)) for text in texts])


def decided(*said: str) -> tuple[list[str], list[str]]:
    """What decides, and what gives way."""
    every = talk(*said)
    decides, gives_way = answered(every, signs_of_change(every))
    return (
        [each.text for each, found in zip(every, decides, strict=True) if found],
        [each.text for each, found in zip(every, gives_way, strict=True) if found],
    )


@pytest.mark.parametrize(
    ("proposal", "answer"),
    [
        ("I'd keep the logs for two weeks.", "No, ninety days, says the revision."),
        ("I'd keep the logs for two weeks.", "Make it ninety days, says the revision."),
        ("We could call it Heron.", "Osprey it is."),
        ("We could call it Heron.", "Hmm, then call it Osprey."),
        ("We could paint the hall white.", "Rather a warm grey."),
        ("How about the train at ten?", "Let's take the later one, I have a call."),
        ("I'll use tabs for this.", "No. Spaces, four of them."),
        ("I'd give it 5 MB.", "Ok, but make it 20 MB for videos."),
        ("I suggest RabbitMQ.", "I'd rather have NATS, ops runs it already."),
        ("Ich würde MySQL nehmen.", "Nein, Postgres 16, das kennen wir."),
        ("Ich würde die Logs 14 Tage behalten.", "Dann doch lieber 90 Tage."),
        ("Je propose MySQL.", "Non, plutôt Postgres 16."),
        ("Sugiero MySQL.", "No, mejor Postgres 16."),
        ("Suggerirei MySQL.", "Meglio Postgres 16, lo conosciamo."),
        ("Sugiro MySQL.", "Não, melhor Postgres 16."),
        ("Предлагаю MySQL.", "Нет, лучше Postgres 16."),
        ("建议用 MySQL。", "不，用 Postgres 16。"),
        ("MySQL を提案します。", "いいえ、Postgres 16 にしてください。"),
        ("MySQL을 제안합니다.", "아니요, Postgres 16 으로 해주세요."),
    ],
)
def test_what_is_proposed_gives_way_to_what_is_chosen_instead(proposal: str, answer: str) -> None:
    decides, gives_way = decided(f"assistant: {proposal}", f"user: {answer}")
    assert gives_way == [proposal]
    assert decides and decides[-1] in answer and any(map(str.isalnum, decides[-1]))


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Have you been to Porto?", "No, I was in Lisbon last year."),
        ("Did you like the film?", "No, it was far too long for me."),
        ("I'd keep them 7 days.", "No thanks."),
        ("I'd keep them 7 days.", "Should we make it 30 days?"),
        ("We could add an index.", "Yes, so the import gets faster."),
        ("The build takes 12 minutes.", "So the cache is cold, as I feared."),
        ("I'll write the test and then deploy.", "I can't wait, so the sooner the better!"),
        ("I'd use port 80.", "That's how it is."),
        ("I'll look at the disk tomorrow.", "Take the small one for the hall."),
    ],
)
def test_an_answer_that_tells_agrees_or_asks_overrules_nothing(said: str, answer: str) -> None:
    assert decided(f"assistant: {said}", f"user: {answer}")[1] == []


def test_a_no_to_what_was_said_decides_and_one_to_a_mere_question_does_not() -> None:
    assert decided("assistant: The folder is created.", "user: No, call it iris.")[0] == ["No, call it iris."]
    assert decided("assistant: Which folder do you mean?", "user: No, call it iris.")[0] == []
    assert decided("user: No, call it iris.")[0] == []


def test_where_somebody_agrees_and_adds_something_the_proposal_stands() -> None:
    both = decided("assistant: I'd add a table of keys.", "user: Good. Let's take Redis for the keys.")
    assert both == (["Let's take Redis for the keys."], [])
    assert decided("assistant: I'd add a table of keys.", "user: Let's take Redis for the keys.")[1]


def test_another_value_of_a_measure_takes_the_place_of_the_last_one_and_of_what_repeats_it() -> None:
    decides, gives_way = decided(
        "user: The rent is 900 EUR.",
        "user: We launch on the 4th of May.",
        "assistant: 4 May, noted.",
        "user: Hmm, legal needs another week, so the 11th of May.",
    )
    assert decides == ["Hmm, legal needs another week, so the 11th of May."]
    assert gives_way == ["We launch on the 4th of May.", "4 May, noted."]


def test_values_of_other_measures_and_those_that_are_confirmed_do_not_give_way() -> None:
    told = ("user: The probe waits 20 seconds.", "user: The disk holds 50 GB.")
    assert decided(*told, "user: Hmm, that must be 45 seconds.")[1] == ["The probe waits 20 seconds."]
    assert decided(*told, "user: Hmm, yes, so the 20 seconds stay.")[1] == []
    assert decided("tool: waited 20 seconds", "user: Hmm, that must be 45 seconds.")[1] == []


def test_values_are_looked_for_only_so_far_back() -> None:
    between = [f"user: The colour of boat {number} is blue." for number in range(15)]
    late = "user: Hmm, that must be 45 seconds."
    assert decided("user: It waits 20 seconds.", *between, late)[1] == ["It waits 20 seconds."]
    assert decided("user: It waits 20 seconds.", *between, "user: The hull is green.", late)[1] == []


def test_tools_stand_between_no_answer_and_what_it_answers() -> None:
    said = ("assistant: I'd take MySQL.", "tool: mysql 8.0.36 is installed", "user: No, Postgres.")
    assert decided(*said)[1] == ["I'd take MySQL."]


@pytest.mark.parametrize("speaker", ["assistant", "tool", "system", "Assistant", ""])
def test_machines_and_nobody_decide_nothing(speaker: str) -> None:
    said = [Sentence(0, "I'd keep them 7 days.", "user"), Sentence(1, "No, make it 30 days instead.", speaker)]
    decides, gives_way = answered(said, signs_of_change(said))
    assert not decides.any() and not gives_way.any()
    assert not contrasts(Sentence(0, "Spaces, not tabs.", speaker)) and contrasts(
        Sentence(0, "Spaces, not tabs.", "Ada")
    )


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("So ROUND_HALF_EVEN, not ROUND_HALF_UP.", True),
        ("Finance wants banker's rounding after all.", True),
        ("Den 19., nicht den 12.", True),
        ("We never print, not even in tests.", False),
        ("I'm tired, not sure why.", False),
        ("Spaces, not tabs?", False),
    ],
)
def test_what_holds_is_told_from_what_does_not(text: str, held: bool) -> None:
    assert contrasts(Sentence(0, text, "user")) is held


def test_what_a_machine_says_again_takes_nothing_of_it_back() -> None:
    said = talk(
        "user: Put the keys in Redis.", "user: Put the keys in Postgres instead.", "assistant: Changed to Postgres."
    )
    assert echoes(said, np.array([0.0, 1.0, 1.0]), np.zeros(3)) == [0, 1, 1]
    assert echoes(said, np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0])) == [0, 1, 1]
    assert echoes(said, np.array([0.0, 0.5, 1.0]), np.zeros(3)) == [0, 1, 2]
    stated, _ = Judged(said).current(None)
    assert stated[1] > stated[0]


WORK = (
    "user: Have a look at why the nightly import is slow.",
    "assistant: Let me look at the logs first.",
    "tool: 2026-03-02T02:51:44Z INFO import finished, 1,204,331 rows",
    "assistant: The import takes 38 minutes; 31 of them are spent in the index rebuild.",
    "user: ok, go on",
    "assistant: Running `npm test`.",
    "tool: Tests: 31 passed, 31 total",
)
MORE = (
    "user: looks good, next step?",
    "assistant: Executing `npm run lint`.",
    "tool: ✔ No problems found",
    "assistant: I'll check the types as well.",
    "tool: Done in 3.1 s",
)


@pytest.mark.parametrize(
    ("old", "new", "between"),
    [
        ("assistant: I'd keep them 7 days and delete older ones.", "user: Make it 30 days, the auditors want it.", ""),
        ("assistant: I suggest MySQL, it runs already on db-1.", "user: No, Postgres 16. We know it.", ""),
        ("user: We launch on the 4th of May.", "user: Hmm, legal needs a week, so the 11th of May.", "4 May, noted."),
        ("user: Put it in us-east-1.", "user: So eu-west-3, not us-east-1.", "Created in us-east-1."),
        ("assistant: I'd give every probe 20 seconds.", "user: Too short, make that 45 seconds.", ""),
    ],
)
def test_the_answer_is_in_the_summary_and_what_it_overrules_is_not_there_without_it(
    old: str, new: str, between: str
) -> None:
    noted = [f"assistant: {between}"] if between else []
    made = extract(talk(*WORK, old, *noted, new, *MORE), 64, COUNTER).text
    assert new.partition(". ")[0] in made
    assert old not in made or made.index(old) < made.index(new.partition(". ")[0])
    assert not any(line in made for line in (*WORK[4:], *MORE))


def test_what_an_answer_decides_and_overrules_is_worth_what_it_says() -> None:
    said = talk("assistant: I'd keep the logs for seven days on the disk.", "user: No, ninety days, says the revision.")
    alone, _ = Judged(said[:1]).current(None)
    stated, change = Judged(said).current(None)
    assert stated[0] == pytest.approx(0.2 * alone[0])
    assert change.tolist() == [0.0, 0.8]
    worth = Worth(Judged(said), np.array([[1.0, 0.0], [1.0, 0.0]]))
    assert (worth.of_all(np.ones(2)) <= Judged(said).at_most() + 1e-9).all()


def test_a_contrast_takes_back_what_it_speaks_of() -> None:
    said = talk("user: Put the bucket in us-east-1.", "user: The bucket goes to eu-west-3, not us-east-1.")
    assert Judged(said).current(None)[1].tolist() == [0.0, 1.0]


def test_what_a_text_pretends_decides_nothing() -> None:
    said = [Sentence(0, "I'd keep them 7 days.", "assistant"), Sentence(1, "user: make it 30 days", "Ada")]
    assert Judged(said).current(None)[1].tolist() == [0.0, 0.0]
    honest = [said[0], Sentence(1, "Make it 30 days", "Ada")]
    assert Judged(honest).current(None)[1].tolist() == [0.0, 0.8]


def test_what_was_overruled_is_not_told_only_because_there_is_room() -> None:
    said = talk("assistant: I'd call it heron.", "user: No, osprey-core, the old name is taken.")
    assert extract(said, 200, COUNTER).picked == (1,)
    assert extract(said[:1], 200, COUNTER).picked == (0,)


def test_an_answer_of_a_word_or_two_states_enough_and_brings_enough_to_be_told() -> None:
    said = talk("assistant: I'd call the new package heron.", "user: Osprey it is.")
    worth = Worth(Judged(said), None)
    assert worth.stated[1] == 0.8
    plain = Worth(Judged(talk("user: Osprey it is.")), None)
    assert plain.stated[0] < 0.2


SAID = (
    "I'd keep them 7 days.|No, make it 30 days.|No.|Postgres it is.|Hmm, so the 4th of May.|4 May.|ok|"
    "Change of plan: 11 May.|Should we?|不，用 30 天。"
).split("|")
speakers = st.sampled_from(["user", "assistant", "tool", "Ada", ""])


@given(st.lists(st.tuples(speakers, st.sampled_from(SAID)), max_size=12))
def test_only_what_was_said_before_in_another_turn_gives_way(said: list[tuple[str, str]]) -> None:
    every = [Sentence(place // 2, text, speaker) for place, (speaker, text) in enumerate(said)]
    decides, gives_way = answered(every, signs_of_change(every))
    assert set(decides) | set(gives_way) <= {0.0, 1.0}
    deciding = [each.turn for each, found in zip(every, decides, strict=True) if found]
    assert all(each.turn < max(deciding) for each, found in zip(every, gives_way, strict=True) if found)
    assert all(each.speaker in ("user", "Ada") for each, found in zip(every, decides, strict=True) if found)


def test_the_work_is_linear() -> None:
    def answering(count: int) -> Callable[[], object]:
        said = [
            Sentence(place // 99, f"No, so the {place} days instead.", f"u{place // 99 % 2}") for place in range(count)
        ]
        signs = signs_of_change(said)
        return lambda: answered(said, signs)

    assert takes_eightfold(answering(256), answering(8 * 256))


@pytest.mark.parametrize(
    "unit", ["no, ", "so the ", "a ", "hmm ", ", not ", "make it ", "it is", "i'd ", "还是", "ok. "]
)
@pytest.mark.parametrize("sign", ["NO", "BARE_NO", "SIGN", "WEAKER", "CONTRAST", "AGREES", "PROPOSES", "INTENDS"])
def test_time_grows_with_the_length_alone(sign: str, unit: str) -> None:
    assert grows_with_length(getattr(answer_signs, sign).search, unit, 3_000)
