"""Documents of a watched folder, and clients that claim them: the file decides."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from tests.serve.process import Client, Daemons

CONFLICT = -32003
RULE = "Answer in metric units."


def rules(client: Client) -> str:
    return str(client.call("assemble_context", userId="ada", sessionId="s1", prompt="how far?")["text"])


def await_rule(client: Client, rule: str) -> None:
    deadline = time.monotonic() + 60
    while rule not in rules(client):
        assert time.monotonic() < deadline


def claim(client: Client, name: str, text: str, root: str) -> Any:
    meta = {"sourceRoot": root, "sourcePath": name, "sourceKind": "generic", "fileHash": "sha256:00"}
    return client.ask("ingest_markdown_document", sourceDoc=name, text=text, sourceMeta=meta)


def test_a_client_can_neither_replace_nor_remove_what_a_watched_file_says(daemons: Daemons, tmp_path: Path) -> None:
    file = tmp_path / "notes" / "AGENTS.md"
    file.parent.mkdir()
    file.write_text(f"- {RULE}\n")
    daemon = daemons(SOURCES_ROOT_PATHS=str(file.parent))
    with daemon.client() as client:
        await_rule(client, RULE)
        for root in ("notes", "another", ""):
            refused = claim(client, "notes/AGENTS.md", "- Answer in furlongs.\n", root)["error"]
            assert refused["code"] == CONFLICT and "watched folder 'notes'" in refused["message"]
        removed = client.ask("delete_authored_document", sourceDoc="notes/AGENTS.md")["error"]
        assert removed["code"] == CONFLICT
        assert RULE in rules(client) and "furlongs" not in rules(client)
        file.write_text("- Answer in miles.\n")
        await_rule(client, "Answer in miles.")


def test_what_a_client_calls_its_own_of_that_folder_stays_as_the_folder_comes_and_goes(
    daemons: Daemons, tmp_path: Path
) -> None:
    file = tmp_path / "notes" / "AGENTS.md"
    file.parent.mkdir()
    file.write_text(f"- {RULE}\n")
    daemon = daemons(SOURCES_ROOT_PATHS=str(file.parent))
    with daemon.client() as client:
        await_rule(client, RULE)
        assert "result" in claim(client, "notes/HOST.md", "- Greet in Welsh.\n", "notes")
        file.write_text("- Answer in miles.\n")
        await_rule(client, "Answer in miles.")
        assert "Greet in Welsh." in rules(client)
    assert daemon.stop() == 0
    with daemons().client() as client:  # no longer watched: what was read from it is gone, and the name is free
        assert "miles" not in rules(client) and "Greet in Welsh." in rules(client)
        assert "result" in claim(client, "notes/AGENTS.md", "- Answer in cubits.\n", "notes")
        assert "Answer in cubits." in rules(client)
        assert client.call("delete_authored_document", sourceDoc="notes/HOST.md") == {"ok": True}
