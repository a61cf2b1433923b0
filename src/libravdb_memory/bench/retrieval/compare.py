"""Two runs on the same questions: is the later one better?

Each measure is compared question by question; the interval of its mean difference is the middle 95% over resamples of
the questions. Laws: a run compared with itself differs by exactly 0; the same two runs give the same interval.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from libravdb_memory.errors import InvalidInputError

RESAMPLES = 2_000
_SEED = 20_250
_DIGITS = 6
_NOT_JUDGED = "ctx_tokens@"


def read_results(path: Path) -> dict[str, Any]:
    """A JSON file of an earlier run."""
    try:
        value: object = json.loads(path.read_bytes())
    except OSError as error:
        raise InvalidInputError(path.name, f"cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(path.name, f"is not JSON ({error})") from None
    results = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    questions: object = results.get("questions")
    if not isinstance(questions, dict) or not all(map(_is_row, cast("dict[str, object]", questions).values())):
        raise InvalidInputError(path.name, "is no result of 'libravdb bench retrieval': it has no measured questions")
    return results


def compare(old: Mapping[str, Any], new: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    """The measures that both runs have, over those of the questions `keys` that both were asked."""
    before: Mapping[str, Mapping[str, float]] = old["questions"]
    after: Mapping[str, Mapping[str, float]] = new["questions"]
    paired = [key for key in keys if key in before]
    if not paired:
        raise InvalidInputError("--against", "the two runs have no question in common")
    names = [name for name in new["overall"] if not name.startswith(_NOT_JUDGED)]
    pairs = {
        name: [(before[key][name], after[key][name]) for key in paired if name in before[key] and name in after[key]]
        for name in names
    }
    return {
        "paired_questions": len(paired),
        "only_in_this_run": len(keys) - len(paired),
        "same_data": _hashes(old) >= _hashes(new),
        "commit": cast("dict[str, Any]", old.get("machine") or {}).get("commit"),
        "changed_settings": _changed(old.get("config"), new.get("config")),
        "metrics": {name: _compared(values) for name, values in pairs.items() if values},
    }


def _compared(pairs: Sequence[tuple[float, float]]) -> dict[str, Any]:
    import numpy as np

    values = np.asarray(pairs, np.float64)
    differences = values[:, 1] - values[:, 0]
    chance = np.random.default_rng(_SEED)
    resampled = [differences[chance.integers(len(pairs), size=len(pairs))].mean() for _ in range(RESAMPLES)]
    low, high = (round(float(bound), _DIGITS) for bound in np.percentile(resampled, (2.5, 97.5)))
    old, new = (round(float(mean), _DIGITS) for mean in values.mean(axis=0))
    return {
        "questions": len(pairs),
        "old": old,
        "new": new,
        "difference": round(float(differences.mean()), _DIGITS),
        "low": low,
        "high": high,
        "verdict": "better" if low > 0 else "worse" if high < 0 else "no clear difference",
    }


def _hashes(results: Mapping[str, Any]) -> set[object]:
    return {part.get("sha256") for part in results.get("data", [])}


def _changed(old: object, new: object) -> dict[str, list[object]]:
    """Settings that the two runs had otherwise: [old, new]."""
    before, after = (cast("dict[str, object]", value if isinstance(value, dict) else {}) for value in (old, new))
    names = sorted(before.keys() | after.keys())
    return {name: [before.get(name), after.get(name)] for name in names if before.get(name) != after.get(name)}


def _is_row(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(number, int | float) for number in cast("dict[str, object]", value).values()
    )
