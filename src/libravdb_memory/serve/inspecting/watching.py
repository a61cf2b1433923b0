"""job_start, job, jobs: long work with progress. ui_link: the page, opened for the owner."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from libravdb_memory.errors import NotFoundError
from libravdb_memory.serve.forms import form, object_form
from libravdb_memory.serve.jobs import Work
from libravdb_memory.serve.methods import Method, Nothing, Result
from libravdb_memory.serve.own.keeping import backup_target
from libravdb_memory.serve.results import health
from libravdb_memory.serve.results import keeping as results
from libravdb_memory.serve.service import Service
from libravdb_memory.serve.signing import ONCE_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    kind: Literal["verify", "backup"] = field(metadata={"help": "what is to be done"})
    name: str | None = field(default=None, metadata={"help": "of a backup; else the time names it"})


@dataclass(frozen=True, slots=True, kw_only=True)
class OfJob:
    job_id: str = field(metadata={"help": "as job_start gave it"})


def job_start(service: Service, params: Start) -> Result:
    work = _verification(service) if params.kind == "verify" else _backup(service, params.name)
    return {"job": form(service.jobs.start(params.kind, work, service.stopping.is_set))}


def _verification(service: Service) -> Work:
    memory = service.memory

    def verify(progress: Any) -> Result:
        found = memory.verify(progress)
        return {"ok": found.ok, **object_form(found)}

    return verify


def _backup(service: Service, name: str | None) -> Work:
    memory = service.memory
    made = datetime.fromtimestamp(service.now_ms() / 1000, UTC).strftime("%Y%m%d-%H%M%S.libravdb")
    target = backup_target(service, (name or "").strip() or made)

    def backup(progress: Any) -> Result:
        memory.backup(target, progress)
        return {"ok": True, "path": str(target)}

    return backup


def job(service: Service, params: OfJob) -> Result:
    return {"job": form(service.jobs.get(params.job_id))}


def jobs(service: Service, _: Nothing) -> Result:
    return {"jobs": [form(each) for each in service.jobs.all()]}


def ui_link(service: Service, _: Nothing) -> Result:
    """What is after the mark is never sent by a browser: the page takes it from there, once."""
    if not service.http:
        raise NotFoundError("serve.http", "this daemon serves no pages: serve.http is blank")
    return {"url": f"{service.http}/#sign-in={service.sign_ins.make_token()}", "expiresInS": ONCE_S}


METHODS: tuple[Method[Any], ...] = (
    Method(
        "job_start",
        Start,
        job_start,
        "Begin a verification or a backup, and do not wait for it.",
        writes=True,
        result=results.OneJob,
    ),
    Method("job", OfJob, job, "Say how far a job has come.", result=results.OneJob),
    Method("jobs", Nothing, jobs, "List the jobs since the daemon began, the newest first.", result=results.AllJobs),
    Method(
        "ui_link",
        Nothing,
        ui_link,
        "Give an address that signs a browser in, once, within a minute.",
        writes=True,
        owner_only=True,
        result=health.PageLink,
    ),
)
