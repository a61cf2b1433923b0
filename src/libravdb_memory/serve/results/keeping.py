"""Keeping the store whole: verifying, backing up, embedding anew, and jobs that do so."""

from __future__ import annotations

from typing import Literal, TypedDict


class Problem(TypedDict):
    """`remedy` is the command that mends it."""

    kind: str
    where: str
    detail: str
    remedy: str


class Verified(TypedDict):
    """`checked` is how many of each kind were looked at."""

    ok: bool
    checked: dict[str, int]
    problems: list[Problem]


class BackedUp(TypedDict):
    ok: bool
    path: str


class Indexing(TypedDict):
    pending: int
    failure: str | None
    unembeddable: int


class Reindexed(Indexing):
    ok: bool
    searchesByMeaning: bool


class JobRow(TypedDict):
    """`total` is 0 where it is not known."""

    id: str
    kind: str
    state: Literal["running", "done", "failed"]
    done: int
    total: int
    startedMs: int
    endedMs: int | None
    result: Verified | BackedUp | None
    error: str | None


class OneJob(TypedDict):
    job: JobRow


class AllJobs(TypedDict):
    jobs: list[JobRow]
