"""bench: what this machine does, as numbers to read and as JSON to keep."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import click

from libravdb_memory.cli.files import whole_file
from libravdb_memory.cli.invocation import Invocation, command
from libravdb_memory.cli.render import table

json_option = click.option(
    "--json", "out", is_flag=False, flag_value="-", metavar="[OUT]", help="JSON to a file, or to stdout."
)
quick_option = click.option("--quick", is_flag=True, help="Smaller sizes: a first impression in seconds.")

_VERDICT_KEYS = {"value", "target", "met"}
_MOST_DEPTH = 1_000
_OWN_DATA = Path("benchmarks/data/technical")


def _depths(context: click.Context, option: click.Parameter, value: str) -> tuple[int, ...]:
    """The numbers of a list such as 5,10,20, in ascending order."""
    try:
        depths = sorted({int(part) for part in value.split(",")})
    except ValueError:
        depths = []
    if not depths or depths[0] < 1 or depths[-1] > _MOST_DEPTH:
        raise click.BadParameter(f"give whole numbers from 1 to {_MOST_DEPTH}, such as 5,10,20, not {value!r}")
    return tuple(depths)


@click.group("bench")
def bench() -> None:
    """Measure the store, the model, prompts, what recall finds, what compaction loses and what the daemon bears."""


@command("store")
@json_option
@quick_option
@click.option(
    "--folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Where to write: it decides the disk that is measured.",
)
@click.pass_obj
def bench_store(invocation: Invocation, out: str | None, quick: bool, folder: Path | None) -> None:
    """Durable inserts, exact and approximate search, cold open; beside the plain alternatives."""
    from libravdb_memory.bench.store import Options, run

    with invocation.terminal.progress("measuring") as progress:
        results = run(Options(quick=quick, folder=folder), progress)
    _show(invocation, results, out)


@command("embed")
@json_option
@quick_option
@click.option(
    "--reference", type=click.Path(exists=True, file_okay=False, path_type=Path), help="A full-precision model folder."
)
@click.pass_obj
def bench_embed(invocation: Invocation, out: str | None, quick: bool, reference: Path | None) -> None:
    """Turns per second, load time, and agreement with a full-precision model where one is given."""
    from libravdb_memory.bench.embed import run

    with invocation.terminal.progress("measuring") as progress:
        results = run(reference, 24 if quick else 512, progress)
    _show(invocation, results, out)


@command("context")
@json_option
@quick_option
@click.option(
    "--folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Where to write: it decides the disk that is measured.",
)
@click.pass_obj
def bench_context(invocation: Invocation, out: str | None, quick: bool, folder: Path | None) -> None:
    """What assembling a prompt costs beside embedding its question, with ten thousand turns stored."""
    from libravdb_memory.bench.context import run

    with invocation.terminal.progress("measuring") as progress:
        results = run(progress, quick=quick, folder=folder)
    _show(invocation, results, out)


@command("retrieval")
@click.option(
    "--data",
    required=True,
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    help="Conversations with labelled questions: a JSON file or a folder of them; may be given again.",
)
@click.option("--k", "depths", default="5,10,20", callback=_depths, metavar="K,…", help="Depths of R@k; 5,10,20.")
@json_option
@click.option("--profile", metavar="NAME", help="Ranking law to use instead of the configured one.")
@click.option(
    "--against", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="JSON of a run to compare with."
)
@click.option("--no-context", is_flag=True, help="Only search; assemble no prompts.")
@click.option("--filler", type=click.IntRange(0), default=0, metavar="N", help="Add N unrelated turns to every user.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Ask only N questions, spread evenly over all.")
@click.pass_obj
def bench_retrieval(invocation: Invocation, /, out: str | None, no_context: bool, **given: Any) -> None:
    """Whether search and context find the turns that answer labelled questions, and how fast."""
    from libravdb_memory.bench.retrieval.run import Options, run
    from libravdb_memory.cli.retrieval_report import filler_note, render

    _refuse_unwritable(out)
    options = Options(contexts=not no_context, **given)
    if options.filler:
        invocation.terminal.words(filler_note(options.filler))
    results = run(options, invocation.terminal.progress)
    _show(invocation, results, out, render(results, invocation.terminal.width))


@command("compaction")
@click.option(
    "--data",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    help="Conversations with labelled questions: a JSON file or a folder of them; may be given again.",
)
@click.option("--timing/--no-timing", default=True, help="Measure the time it takes too; minutes more.")
@json_option
@quick_option
@click.pass_obj
def bench_compaction(
    invocation: Invocation, data: tuple[Path, ...], timing: bool, out: str | None, quick: bool
) -> None:
    """What contexts lose when sessions are compacted, which facts summaries keep, and what it costs."""
    from libravdb_memory.bench.compaction.run import Options, run

    _refuse_unwritable(out)
    if not data and not _OWN_DATA.is_dir():
        raise click.UsageError(f"there is no {_OWN_DATA} here: name a file with --data")
    results = run(Options(data or (_OWN_DATA,), quick, timing), invocation.terminal.progress)
    _show(invocation, results, out, table(_rows({"results": results["results"]})))


@command("load")
@click.option("--turns", type=click.IntRange(64), default=20_000, show_default=True, help="Stored before it begins.")
@click.option("--connections", type=click.IntRange(1), default=64, show_default=True, help="Clients at once.")
@click.option("--seconds", type=click.IntRange(1), default=60, show_default=True, help="How long they go on.")
@click.option(
    "--engine",
    type=click.Choice(["bundled", "hashed"]),
    default="bundled",
    show_default=True,
    help="What embeds: the bundled model, or hashes, which need no time.",
)
@click.option("--synthetic", is_flag=True, help="Fill the store with vectors that no model made: minutes less.")
@json_option
@quick_option
@click.pass_obj
def bench_load(invocation: Invocation, /, out: str | None, quick: bool, **given: Any) -> None:
    """What a daemon of its own bears from many clients, and what a call to it costs over the library."""
    from libravdb_memory.bench.load.run import Options, run

    _refuse_unwritable(out)
    if given["synthetic"] and given["engine"] != "bundled":
        raise click.UsageError("--synthetic is for the bundled engine")
    sizes: dict[str, Any] = {"turns": 400, "seconds": 3, "rounds": (100, 20)} if quick else {}
    results = run(Options(**given | sizes), invocation.terminal.progress)
    shown = {key: results[key] for key in ("results", "targets_meant_for_these_sizes")}
    _show(invocation, results, out, table(_rows(shown)))


def _refuse_unwritable(out: str | None) -> None:
    """Before the measuring, which may take long."""
    if out is not None and out != "-" and not Path(out).resolve().parent.is_dir():
        raise click.UsageError(f"the folder of {out} is not there")


def _show(invocation: Invocation, results: Mapping[str, Any], out: str | None, rendered: str | None = None) -> None:
    if out is not None and out != "-":
        with whole_file(Path(out)) as file:
            file.write(json.dumps(results, indent=2, ensure_ascii=False) + "\n")
    if out == "-" or (invocation.as_json and out is None):
        invocation.terminal.json(results)
    else:
        invocation.terminal.data(table(_rows(results)) if rendered is None else rendered)


def _rows(results: Mapping[str, Any], depth: int = 0) -> list[tuple[str, str]]:
    """A row for every number, indented below what it belongs to; a figure with a target shows its verdict."""
    rows: list[tuple[str, str]] = []
    for name, value in results.items():
        label = "  " * depth + name.replace("_", " ")
        if not isinstance(value, Mapping):
            rows.append((label, _figure(value)))
            continue
        inner = cast("Mapping[str, Any]", value)
        judged = inner.keys() >= _VERDICT_KEYS
        rows.append((label, _verdict(inner) if judged else ""))
        rows += _rows({key: inner[key] for key in inner if not (judged and key in _VERDICT_KEYS)}, depth + 1)
    return rows


def _verdict(figure: Mapping[str, Any]) -> str:
    mark = click.style("✓", fg="green") if figure["met"] else click.style("✗", fg="red", bold=True)
    return f"{_figure(figure['value'])}  {mark} {figure['target']}"


def _figure(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_figure(item) for item in cast("list[object]", value)) or "none"
    return f"{value:,.4g}" if isinstance(value, float) else str(value)


bench.add_command(bench_store)
bench.add_command(bench_embed)
bench.add_command(bench_context)
bench.add_command(bench_retrieval)
bench.add_command(bench_compaction)
bench.add_command(bench_load)
COMMANDS = {"bench": bench}
