"""Build the projection of token vectors that goes with the bundled model.

    python tools/build_tokens.py            # write engines/bundled/tokens.npy and name it in manifest.toml
    python tools/build_tokens.py --check    # build in memory and compare with the bundled file

A token's hidden state h (384 numbers) becomes h V + b: V the 128 largest principal axes of the hidden states of the
project's own texts, b = -mean V, both in one float16 array whose last row is b.

Laws:

1. The texts are the project's own, and every axis has its largest component positive: a rebuild gives the same array up
   to rounding, which differs from CPU to CPU.
2. `--check` therefore compares what the array does, not its bytes: the space that the axes span, the spread of the
   hidden states they keep, and the mean, within the tolerances below.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from libravdb_memory.engines.manifest import read_manifest
from libravdb_memory.engines.manifest_values import FILE_NAME
from libravdb_memory.engines.projection import MOST_TOKENS
from libravdb_memory.engines.protocol import TOKEN_DIMENSIONS
from libravdb_memory.engines.session import Session

ROOT = Path(__file__).resolve().parent.parent
BUNDLED = ROOT / "src" / "libravdb_memory" / "engines" / "bundled"
CONVERSATIONS = ROOT / "benchmarks" / "data" / "technical"
SENTENCES = ROOT / "tests" / "stages" / "corpus"
SENTENCE_FILES = ("deontic_dev", "deontic_final", "deontic_test", "gate_dev", "gate_test")
TOKENS_FILE = "tokens.npy"

LEAST_SHARED_SPACE = 0.98
LEAST_KEPT_SPREAD = 0.999
LARGEST_SHIFT = 0.02

F64 = NDArray[np.float64]
F16 = NDArray[np.float16]


def own_texts() -> Iterator[str]:
    for path in sorted(CONVERSATIONS.glob("*.json")):
        for conversation in json.loads(path.read_text(encoding="utf-8"))["conversations"]:
            yield from (turn["text"] for turn in conversation["turns"])
    for name in SENTENCE_FILES:
        lines = (SENTENCES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        yield from (json.loads(line)["text"] for line in lines)


def hidden_states(texts: list[str], session: Session, longest: int) -> Iterator[NDArray[np.float32]]:
    """The hidden states of each text's first tokens, without the frame around them."""
    head = len(session.frame.head)
    room = longest - len(session.frame.around(()))
    for done, text in enumerate(texts):
        if done % 500 == 0:
            print(f"\r{done} of {len(texts)} texts", end="", file=sys.stderr, flush=True)
        own = session.tokens(text.strip())[:room]
        ids = np.array([session.frame.around(own)], np.int64)
        yield session.run(ids, np.ones_like(ids))[0, head : head + min(len(own), MOST_TOKENS)]
    print(f"\r{len(texts)} texts       ", file=sys.stderr)


def mean_and_covariance(states: Iterator[NDArray[np.float32]], size: int) -> tuple[F64, F64]:
    count, total, products = 0, np.zeros(size), np.zeros((size, size))
    for block in states:
        wide = block.astype(np.float64)
        count, total, products = count + len(wide), total + wide.sum(axis=0), products + wide.T @ wide
    mean = total / count
    return mean, products / count - np.outer(mean, mean)


def principal_axes(covariance: F64, count: int) -> F64:
    """The axes of the largest spread as columns, largest first, each with its largest component positive."""
    _, axes = np.linalg.eigh(covariance)
    chosen = axes[:, ::-1][:, :count]
    largest = chosen[np.abs(chosen).argmax(axis=0), np.arange(chosen.shape[1])]
    return np.asarray(chosen * np.sign(largest))


def projection(mean: F64, covariance: F64, count: int = TOKEN_DIMENSIONS) -> F16:
    axes = principal_axes(covariance, count)
    return np.vstack([axes, -mean @ axes]).astype(np.float16)


def differences(found: F16, mean: F64, covariance: F64) -> dict[str, float]:
    """How the array found does beside the one that this mean and covariance give."""
    axes, shift = found[:-1].astype(np.float64), found[-1].astype(np.float64)
    ideal = principal_axes(covariance, axes.shape[1])
    kept, best = (float(np.trace(basis.T @ covariance @ basis)) for basis in (axes, ideal))
    return {
        "shared_space": float(((axes.T @ ideal) ** 2).sum() / axes.shape[1]),
        "kept_spread": kept / best,
        "shift": float(np.linalg.norm(shift + mean @ axes) / np.sqrt(np.trace(covariance))),
        "share_of_all_spread": kept / float(np.trace(covariance)),
    }


def agrees(measured: dict[str, float]) -> bool:
    return (
        measured["shared_space"] >= LEAST_SHARED_SPACE
        and measured["kept_spread"] >= LEAST_KEPT_SPREAD
        and measured["shift"] <= LARGEST_SHIFT
    )


def add_tokens(folder: Path, content: bytes) -> None:
    """Write the array into a model's folder and name it, with its hash, in a manifest of tools/build_model.py."""
    (folder / TOKENS_FILE).write_bytes(content)
    manifest = folder / FILE_NAME
    kept = [line for line in manifest.read_text(encoding="utf-8").splitlines() if TOKENS_FILE not in line]
    kept.insert(2, f'tokens_file = "{TOKENS_FILE}"')
    kept.append(f'"{TOKENS_FILE}" = "{hashlib.sha256(content).hexdigest()}"')
    manifest.write_text("\n".join(kept) + "\n", encoding="utf-8", newline="\n")


def as_file(array: Any) -> bytes:
    raw = io.BytesIO()
    np.save(raw, array, allow_pickle=False)
    return raw.getvalue()


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the projection of token vectors of the bundled model.")
    parser.add_argument("--check", action="store_true", help="compare with the bundled file instead of writing it")
    arguments = parser.parse_args()
    manifest = read_manifest(BUNDLED)
    states = hidden_states(list(own_texts()), Session(manifest, 1), manifest.max_tokens)
    mean, covariance = mean_and_covariance(states, manifest.dimensions)
    if not arguments.check:
        add_tokens(BUNDLED, as_file(projection(mean, covariance)))
    measured = differences(np.load(BUNDLED / TOKENS_FILE, allow_pickle=False), mean, covariance)
    print(", ".join(f"{name} {value:.5f}" for name, value in measured.items()))
    return 0 if agrees(measured) else 1


if __name__ == "__main__":
    sys.exit(main())
