"""Rules that apply whatever a question is about are told from those with a topic."""

from __future__ import annotations

import pytest
from tests.growth import grows_with_length

from libravdb_memory.compact.every_answer import concerns_every_answer


@pytest.mark.parametrize(
    "text",
    [
        "Always answer with the number of the build first.",
        "From now on always answer with the build number first.",
        "Going forward, please reply in two sentences.",
        "Okay, from here on: responses without tables.",
        "In future answer before you explain.",
        "Lead with the conclusion.",
        "And start with the answer.",
    ],
)
def test_how_to_answer_is_wanted_always_however_the_rule_begins(text: str) -> None:
    assert concerns_every_answer(text)


@pytest.mark.parametrize(
    "text",
    [
        "When we talk, answer in full sentences.",
        "Keep your answers short when we talk about anything.",
        "When I ask you something, reply in Spanish.",
        "Whenever you answer, keep it brief.",
    ],
)
def test_a_condition_that_names_no_topic_leaves_it_wanted_always(text: str) -> None:
    assert concerns_every_answer(text)


@pytest.mark.parametrize(
    "text",
    [
        "Sketch the design before you start coding.",
        "List the open questions before starting.",
        "Run the formatter before you say that it's finished.",
        "Check the links before you call a task done.",
        "Make a copy before deleting anything.",
        "Tell the reviewer before you edit or move files.",
        "Run the type checker before every commit.",
        "When you're done, list what is left.",
    ],
)
def test_how_any_work_goes_is_wanted_always(text: str) -> None:
    assert concerns_every_answer(text)


@pytest.mark.parametrize(
    "text",
    [
        "Heat the oven before you start the dough.",
        "Weigh the flour before you begin with the dough.",
        "Back up the database before you run migrations.",
        "Call the carrier before changing the delivery date.",
        "Once you're done with the taxes, file the receipts by month.",
        "Wash the brushes before touching the canvas.",
        "Notify Lena before the doors are ready.",
    ],
)
def test_how_one_kind_of_work_goes_is_wanted_with_it(text: str) -> None:
    assert not concerns_every_answer(text)


@pytest.mark.parametrize(
    "text",
    [
        "From now on the invoices go to the accountant.",
        "Going forward, migrations run on staging first.",
        "From now on always squash before merging, the answer file too.",
        "Start with the backend tests.",
        "A feature flag is fine with me, but no second deploy.",
        "Never forget the dog, she's important to me.",
        "A partir de ahora, responde siempre en español cuando hablemos del almacén.",
        "Always answer me in German when we talk about the Lübeck office.",
        "Whenever we discuss pricing, keep your answers short.",
        "Wenn wir über das Lager reden, antworte mir bitte immer auf Deutsch.",
        "Réponds-moi en français quand on parle de la succursale.",
        "Когда мы говорим о складе, отвечай на русском.",
        "讨论仓库的时候，请用中文回答。",
        "From now on",
        "",
    ],
)
def test_a_rule_with_a_topic_is_wanted_with_it(text: str) -> None:
    assert not concerns_every_answer(text)


@pytest.mark.parametrize(
    "unit",
    [
        "before you start ",
        "before deleting any ",
        "when you are done ",
        "from now on ",
        "so, ",
        "and so please ",
        "from now on" + " " * 40,
    ],
)
def test_it_is_told_in_time_that_grows_with_the_text(unit: str) -> None:
    assert grows_with_length(concerns_every_answer, unit, 2_000)
