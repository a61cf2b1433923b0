"""The filter grammar as SQL over `record r`.

Laws: every condition is true or false, never unknown, so `Not` is an exact complement. A key that is absent counts as
null. Booleans, numbers and texts are distinct kinds: 1 equals 1.0 but not true and not "1". Values are bound, never
spliced into the SQL. A mark that every record must have is told apart, so that reading can start from it.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field

from libravdb_memory.errors import InvalidInputError
from libravdb_memory.identity import canonical_json
from libravdb_memory.store.drafts import check_text
from libravdb_memory.store.protocol import AllOf, AnyOf, Between, Covered, Equals, Filter, Marked, Not, OneOf
from libravdb_memory.store.sqlite.marks import LABEL

_MAX_DEPTH = 50
_MAX_VALUES = 30_000
_INT64 = 1 << 63
_METADATA = "metadata."
_Scalar = str | int | float | bool | None


@dataclass(slots=True)
class Condition:
    """`sql` over `record r`. With a `label`, only records with that mark: the reader joins `mark m` and binds it."""

    sql: str
    values: list[str | int | float] = field(default_factory=list[str | int | float])
    label: str | None = None

    @property
    def looks_at_records(self) -> bool:
        return self.sql != "1"


def condition_of(where: Filter | None, collection_key: int) -> Condition:
    condition = Condition("1")
    if where is not None:
        condition.label, rest = _apart(where)
        condition.sql = "1" if rest is None else _Translation(collection_key, condition.values).of(rest, 0)
        if len(condition.values) > _MAX_VALUES:
            raise InvalidInputError("where", f"has more than {_MAX_VALUES} values")
    return condition


def _apart(where: Filter) -> tuple[str | None, Filter | None]:
    """A label that every record must have, and what is left to ask."""
    parts = where.of if isinstance(where, AllOf) else (where,)
    for number, part in enumerate(parts):
        if isinstance(part, Marked):
            _check_label(part.label)
            rest = parts[:number] + parts[number + 1 :]
            return part.label, AllOf(rest) if rest else None
    return None, where


class _Translation:
    def __init__(self, collection_key: int, values: list[str | int | float]) -> None:
        self._collection = collection_key
        self._values = values

    def of(self, where: Filter, depth: int) -> str:
        if depth > _MAX_DEPTH:
            raise InvalidInputError("where", f"is nested deeper than {_MAX_DEPTH} levels")
        match where:
            case Equals(name, value):
                return self._one_of(name, (value,))
            case OneOf(name, values):
                return self._one_of(name, values)
            case Between():
                return self._between(where)
            case Marked(label):
                _check_label(label)
                self._values.append(label)
                return f"EXISTS (SELECT 1 FROM mark WHERE mark.label = {LABEL} AND mark.ref = r.ref)"  # noqa: S608
            case Covered():
                return "EXISTS (SELECT 1 FROM edge WHERE edge.child = r.ref)"
            case Not(inner):
                return f"NOT ({self.of(inner, depth + 1)})"
            case AllOf(parts):
                return _joined("AND", [self.of(part, depth + 1) for part in parts]) or "1"
            case AnyOf(parts):
                return _joined("OR", [self.of(part, depth + 1) for part in parts]) or "0"

    def _one_of(self, name: str, values: tuple[_Scalar, ...]) -> str:
        for value in values:
            _check_value(value)
        if name == "group":
            texts = [value for value in values if isinstance(value, str)]
            self._values.append(self._collection)
            return f"r.grp IN (SELECT key FROM grp WHERE collection = ? AND name IN ({self._bind(texts)}))"  # noqa: S608
        if name == "id":
            return f"r.id IN ({self._bind([value for value in values if isinstance(value, str)])})"
        numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
        if name == "ts":
            return f"r.ts IN ({self._bind(numbers)})"
        path = _path_of(name)
        exact = [canonical_json(value) for value in values if isinstance(value, str | bool | None)]
        parts: list[str] = []
        if exact:
            self._values.append(path)
            parts.append(f"coalesce(r.metadata -> ?, 'null') IN ({self._bind(exact)})")
        if numbers:
            parts.append(f"coalesce({self._number(path)} IN ({self._bind(numbers)}), 0)")
        return _joined("OR", parts) or "0"

    def _between(self, where: Between) -> str:
        for bound in (where.low, where.high):
            _check_value(bound)
        if where.field == "ts":
            return self._bounded(where, "r.ts")
        if where.field in ("id", "group"):
            raise InvalidInputError("where", f"{where.field} has no order to lie between")
        path = _path_of(where.field)
        return f"coalesce({self._bounded(where, None, path)}, 0)"

    def _bounded(self, where: Between, column: str | None, path: str = "") -> str:
        parts: list[str] = []
        for sign, bound in ((">=", where.low), ("<=", where.high)):
            if bound is not None:
                parts.append(f"{column or self._number(path)} {sign} ?")
                self._values.append(bound)
        if not parts:
            return "1" if column else f"{self._number(path)} IS NOT NULL"
        return "(" + " AND ".join(parts) + ")"

    def _number(self, path: str) -> str:
        """The metadata value if it is a number, else NULL."""
        self._values.extend((path, path))
        return "CASE WHEN json_type(r.metadata, ?) IN ('integer', 'real') THEN r.metadata ->> ? END"

    def _bind(self, values: list[str] | list[int | float] | list[int]) -> str:
        self._values.extend(values)
        return ", ".join("?" * len(values))


def _path_of(name: str) -> str:
    key = name.removeprefix(_METADATA)
    if not name.startswith(_METADATA):
        raise InvalidInputError("where", f"{name!r} is no field; there are group, id, ts and metadata.<key>")
    check_text("where", key)
    if "\0" in key:
        raise InvalidInputError("where", "a metadata key with a NUL cannot be filtered on")
    return "$." + json.dumps(key, ensure_ascii=False)


def _check_label(label: object) -> None:
    check_text("where", label)
    if not label:
        raise InvalidInputError("where", "a label must not be empty")


def _check_value(value: object) -> None:
    if isinstance(value, str):
        check_text("where", value)
    elif isinstance(value, float) and not math.isfinite(value):
        raise InvalidInputError("where", f"{value} is no value to compare with")
    elif isinstance(value, int) and not -_INT64 <= value < _INT64:
        raise InvalidInputError("where", "a number does not fit in 64 bits")
    elif not isinstance(value, int | float | None):
        raise InvalidInputError("where", f"cannot compare with {type(value).__name__}")


def _joined(operator: str, parts: list[str]) -> str:
    """A balanced tree, because SQLite bounds the depth of an expression."""
    if len(parts) <= 1:
        return parts[0] if parts else ""
    middle = len(parts) // 2
    return f"({_joined(operator, parts[:middle])} {operator} {_joined(operator, parts[middle:])})"
