"""Texts that go round in circles, and texts that only speak of the same thing more than once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.growth import grows_with_length

from libravdb_memory.compact.views import View
from libravdb_memory.engines.summarising.answers import usable
from libravdb_memory.engines.summarising.extractive import ExtractiveSummariser
from libravdb_memory.engines.summarising.looping import FEWEST_WORDS, repeats
from libravdb_memory.engines.summarising.protocol import SummaryRequest, never
from libravdb_memory.errors import AnswerUnusableError
from libravdb_memory.tokens import EstimatingCounter

TECHNICAL = Path(__file__).parents[2] / "benchmarks" / "data" / "technical"

LOOPS = {
    "a sentence": "The billing service moves to a new port on Friday. " * 4,
    "a sentence, twice": "The service moves on Friday. It is not restarted before. The service moves on Friday.",
    "a sentence in other letters": "The service moves on Friday!\nTHE SERVICE MOVES, on friday.",
    "items of a list": "1. The service moves on Friday.\n2. The service moves on Friday.",
    "words without an end": "billing service port Friday " * 9,
    "one word": "lantern " * 40,
    "what comes round once more": "the port that moves and " * 3,
    "a sentence in Chinese": "计费服务将于周五迁移到新端口。" * 2,
    "words in Chinese": "计费服务周五迁移，" * 5,
    "a sentence in Japanese": "課金サービスは金曜日に新しいポートへ移動します。" * 2,
    "words in Thai": "ย้ายพอร์ตวันศุกร์" * 6,
    "words in Korean": "결제 서비스 포트 금요일 " * 6,
    "words in Russian": "служба порт пятница перенос " * 6,
}
HONEST = (
    "Billing moves from port 8080 to 8443 on Friday; it is not to be restarted before.",
    "No. No. Billing stays.",
    "Ada: done. Bob: done. Carol: done.",
    "Port 8080 was closed on Monday. Port 8443 was opened on Tuesday, and port 9000 was opened on Wednesday.",
    "1. Port 8080 is closed.\n2. Port 8443 is closed.\n3. Port 9000 is open.",
    "the port, the port, the port and the port again",
    "不要重启。不要重启。",
    "计费服务将于周五从8080端口迁移到8443端口，在此之前不得重启。证书需要更新，旧端口仍在使用中。",
    "課金サービスは金曜日に8443番へ移ります。それまで再起動しません。証明書は更新が必要です。",
    "บริการเรียกเก็บเงินจะย้ายไปพอร์ตใหม่ในวันศุกร์ และห้ามเริ่มระบบใหม่ก่อนวันนั้น ใบรับรองต้องต่ออายุ",
)


@pytest.mark.parametrize("name", LOOPS)
def test_a_text_that_goes_round_in_circles_is_found_out(name: str) -> None:
    assert repeats(LOOPS[name])


@pytest.mark.parametrize("text", HONEST)
def test_a_text_that_speaks_of_the_same_things_is_no_loop(text: str) -> None:
    assert not repeats(text)


def test_few_words_may_come_again() -> None:
    words = "no port " * (FEWEST_WORDS // 2)
    assert repeats(words) and not repeats(words.removesuffix("port "))


def test_half_of_what_is_said_may_be_said_already() -> None:
    said = ("a b c d e f " * 3).split()
    assert not repeats(" ".join(said[:14])) and repeats(" ".join(said[:15]))


def test_no_extract_of_technical_talk_is_taken_for_a_loop() -> None:
    made, summariser = 0, ExtractiveSummariser(None)
    for file in sorted(TECHNICAL.glob("*.json")):
        for talk in json.loads(file.read_text())["conversations"]:
            turns = [View(turn["text"], turn["role"]) for turn in talk["turns"]]
            for first in range(0, len(turns), 20):
                for tokens in (64, 400):
                    asked = SummaryRequest(tuple(turns[first : first + 20]), "", tokens, 0.4)
                    assert not repeats(summariser.summarise(asked, never).text)
                    made += 1
    assert made > 70


@pytest.mark.parametrize("unit", ["port ", "The port moves on Friday. ", "。", "端口", "1. a\n", "x", ". "])
def test_time_grows_with_the_length_alone(unit: str) -> None:
    assert grows_with_length(repeats, unit, 4_000)


def test_the_reason_says_so_and_shows_nothing_of_it() -> None:
    asked = SummaryRequest((View("Billing moves to a new port on Friday.", "user"),), "", 64, 1.0)
    with pytest.raises(AnswerUnusableError, match=r"it repeats itself$"):
        usable(LOOPS["a sentence"], asked, EstimatingCounter(), "m")
