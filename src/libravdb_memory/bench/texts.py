"""Texts to measure with: varied turns of invented conversations, the same for the same number.

They differ in length (one word to a few hundred), kind (small talk, facts, questions, commands, code, logs, other
scripts) and wording, because a model's speed depends on length and its rounding on content.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from random import Random

_TURNS = (
    "I moved the {thing} to {place} last {when}",
    "Could you find out why the {thing} stopped working in {place}?",
    "{name} says the {thing} costs {number} euros, which seems steep",
    "We agreed to keep the {thing} until {when}, then sell it",
    "please remember: I never eat {food}",
    "The {food} in {place} was the best I ever had, and {name} ordered a second plate before I finished mine",
    "ok",
    "What did {name} tell you about the {thing}?",
    "No, that was {when}; before that I lived in {place} for {number} days",
    "def load_{thing}(path: Path) -> bytes:\n    return path.read_bytes()  # {name} wants this cached",
    "ERROR [{number}] {place}/{thing}.service: exited with status 1, restarting in {number} ms",
    "git switch -c fix/{thing}-{number} && make test",
    "SELECT name, total FROM {thing}s WHERE total > {number} ORDER BY name LIMIT 10;",
    "Ich treffe {name} am Bahnhof in {place}, wahrscheinlich erst gegen Abend",
    "Je préfère le {food} au {thing}, surtout en {when}",
    "{name}さんは{place}で{food}を食べました",
    "Мы с {name} купили {thing} за {number}",
    "Always run the {thing} checks before a release, and tell {name} when they fail.",
    "{number}",
    "Thanks! 🎉 {name} will love the {thing}",
)
_WORDS = {
    "thing": ("laptop", "greenhouse", "server", "bicycle", "contract", "database", "piano", "kettle", "microscope"),
    "place": ("Lisbon", "Oslo", "Kyoto", "Nairobi", "Bergen", "Quito", "staging", "production", "the attic"),
    "when": ("winter", "Tuesday", "March", "weekend", "night", "3 May 2021", "year"),
    "food": ("peanuts", "risotto", "mango", "lentils", "cheesecake", "ramen", "rye bread"),
    "name": ("Ada", "Bruno", "Chiara", "Deniz", "Emeka", "Farah", "Goran", "Hana", "Ivo", "Jun"),
}
_TURNS_PER_TEXT = (1, 1, 1, 1, 2, 2, 3, 5, 9)


def conversation(count: int, seed: int = 1) -> list[str]:
    return list(islice(_texts(Random(seed)), count))


def _texts(chance: Random) -> Iterator[str]:
    while True:
        yield ". ".join(_turn(chance) for _ in range(chance.choice(_TURNS_PER_TEXT)))


def _turn(chance: Random) -> str:
    words = {kind: chance.choice(choices) for kind, choices in _WORDS.items()}
    return chance.choice(_TURNS).format(number=chance.randint(2, 9000), **words)
