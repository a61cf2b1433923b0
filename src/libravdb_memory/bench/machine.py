"""What a measurement was made on: without it, a figure says nothing. Holds no name or path of the machine."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

_PACKAGES = ("apsw", "numpy", "onnxruntime", "tokenizers", "usearch")
_VECTOR_FLAGS = ("avx", "avx2", "avx512f", "avx512_vnni", "avx_vnni", "asimd", "asimddp", "i8mm")


def describe() -> dict[str, Any]:
    return {
        "cpu": _cpu_model(),
        "cpu_features": _cpu_features(),
        "cores": _cores(),
        "load_average": _load_average(),
        "memory_gb": _memory_gb(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "libravdb_memory": _version("libravdb-memory"),
        "packages": {name: _version(name) for name in _PACKAGES},
        "commit": _commit(),
    }


def _cpu_model() -> str:
    return _cpuinfo("model name") or platform.processor() or platform.machine()


def _cpu_features() -> list[str]:
    present = set((_cpuinfo("flags") or _cpuinfo("Features")).split())
    return [flag for flag in _VECTOR_FLAGS if flag in present]


def _cpuinfo(key: str) -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.partition(":")[0].strip() == key), "")


def _cores() -> int:
    """Those this process may use."""
    # Only some systems have it, which a type checker for one system cannot know.
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _load_average() -> float | None:
    """How busy the machine was over the last minute, whoever was working."""
    try:
        return round(os.getloadavg()[0], 1)
    except (AttributeError, OSError):
        return None


def _memory_gb() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)
    except (AttributeError, ValueError, OSError):
        return None


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _commit() -> str | None:
    """The commit of the source tree, marked when files differ from it; None for an installed package."""
    here = Path(__file__).resolve().parents[3]
    if not (here / "pyproject.toml").is_file():
        return None
    try:
        head = _git(here, "rev-parse", "HEAD")
        changed = _git(here, "status", "--porcelain", "--untracked-files=no", "--", "src")
    except (OSError, subprocess.SubprocessError):
        return None
    return f"{head} with changes" if changed else head


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True, timeout=10)
    return done.stdout.strip()
