"""What the package exports, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import libravdb_memory

PUBLIC_NAMES = [
    "AmbiguousIdError",
    "Config",
    "ConflictError",
    "Context",
    "FingerprintMismatchError",
    "Hit",
    "Hits",
    "InvalidInputError",
    "LibraVDBError",
    "Memory",
    "NotFoundError",
    "Status",
    "StoreError",
    "StoreLockedError",
    "Turn",
    "__version__",
    "load_config",
]


def test_the_public_names_are_exactly_these() -> None:
    assert sorted(libravdb_memory.__all__) == sorted(PUBLIC_NAMES)
    assert all(hasattr(libravdb_memory, name) for name in PUBLIC_NAMES)


def test_secrets_are_masked_in_one_place() -> None:
    source = Path(libravdb_memory.__file__).parent
    names = [
        file.relative_to(source).as_posix()
        for file in source.rglob("*.py")
        if "ingest.secrets import" in file.read_text()
    ]
    assert [name for name in names if not name.startswith("ingest/secrets/")] == ["masking.py"]


def test_importing_the_package_imports_nothing_heavy() -> None:
    program = (
        "import sys, libravdb_memory; "
        "print(sorted({'numpy', 'onnxruntime', 'tokenizers', 'usearch', 'apsw', 'click'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
