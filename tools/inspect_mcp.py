"""Ask `libravdb mcp` with the inspector of the Model Context Protocol, on a temporary home.

python tools/inspect_mcp.py PATH/TO/mcp-inspector
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from libravdb_memory.serve.lifetime import stop

_SERVER = [sys.executable, "-m", "libravdb_memory", "mcp"]
_PATIENCE_S = 120


def main() -> int:
    inspector = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="lv") as folder:
        home = Path(folder) / "home"
        os.environ["LIBRAVDB_HOME"] = str(home)
        try:
            _inspect(inspector)
        finally:
            stop(home, 60)
    return 0


def _inspect(inspector: str) -> None:
    def ask(*how: str) -> Any:
        done = subprocess.run(
            [inspector, "--cli", *_SERVER, *how], capture_output=True, text=True, timeout=_PATIENCE_S, check=False
        )
        if done.returncode:
            sys.exit(f"the inspector failed: {done.stderr or done.stdout}")
        return json.loads(done.stdout)

    def call(tool: str, *arguments: str) -> Any:
        told = [part for argument in arguments for part in ("--tool-arg", argument)]
        answer = ask("--method", "tools/call", "--tool-name", tool, *told)
        return answer["structuredContent"]

    tools = ask("--method", "tools/list")["tools"]
    added = call("memory_add", "text=We deploy on Tuesdays.")
    found = call("memory_search", "query=when do we deploy?")["results"]
    assert len(tools) == 6 and added["id"] in {hit["id"] for hit in found}, (tools, added, found)
    receipt = call("memory_context", "prompt=when do we deploy?")["receipt"]
    assert receipt in {each["uri"] for each in ask("--method", "resources/list")["resources"]}
    assert ask("--method", "resources/read", "--uri", receipt)["contents"]
    assert ask("--method", "prompts/list")["prompts"][0]["name"] == "recall"
    print("6 tools, a memory added and found, a receipt listed and read, a prompt")


if __name__ == "__main__":
    sys.exit(main())
