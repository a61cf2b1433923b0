"""The entry for the registry: of the form that the registry asks for, about this package, under the name that the
package's own page carries.

The rules are those of the registry's schema of 2025-12-11 and of its additional requirements, in our own words and as
far as our entry uses them; members that the registry does not know are refused here, because a slip of the pen would
otherwise look like one.
"""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from libravdb_memory import __version__

ROOT = Path(__file__).resolve().parents[2]
ENTRY = json.loads((ROOT / "server.json").read_text())

EXACT_VERSION = {"type": "string", "maxLength": 255, "pattern": r"^[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+-]+)?$"}
TEXT = {"type": "string", "minLength": 1}
INPUT = {
    "description": TEXT,
    "isRequired": {"type": "boolean"},
    "isSecret": {"type": "boolean"},
    "format": {"enum": ["string", "number", "boolean", "filepath"]},
    "default": TEXT,
    "placeholder": TEXT,
    "value": TEXT,
    "choices": {"type": "array", "items": TEXT},
}


def members(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": required, "properties": properties, "additionalProperties": False}


POSITIONAL = {
    **members(["type"], type={"const": "positional"}, valueHint=TEXT, isRepeated={"type": "boolean"}, **INPUT),
    "anyOf": [{"required": ["value"]}, {"required": ["valueHint"]}],
}
NAMED = members(["type", "name"], type={"const": "named"}, name=TEXT, isRepeated={"type": "boolean"}, **INPUT)
ARGUMENTS = {"type": "array", "items": {"anyOf": [POSITIONAL, NAMED]}}
PACKAGE = members(
    ["registryType", "identifier", "version", "transport"],
    registryType={"const": "pypi"},
    registryBaseUrl={"const": "https://pypi.org"},
    identifier=TEXT,
    version=EXACT_VERSION,
    runtimeHint=TEXT,
    runtimeArguments=ARGUMENTS,
    packageArguments=ARGUMENTS,
    transport=members(["type"], type={"const": "stdio"}),
    environmentVariables={"type": "array", "items": members(["name"], name=TEXT, **INPUT)},
)
RULES = {
    **members(
        ["$schema", "name", "description", "version", "packages"],
        name={
            "type": "string",
            "minLength": 3,
            "maxLength": 200,
            "pattern": r"^io\.github\.[A-Za-z0-9](-?[A-Za-z0-9])*/[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$",
        },
        title={"type": "string", "minLength": 1, "maxLength": 100},
        description={"type": "string", "minLength": 1, "maxLength": 100},
        version=EXACT_VERSION,
        websiteUrl={"type": "string", "pattern": "^https://"},
        repository=members(["url", "source"], url={"type": "string", "pattern": "^https://"}, source=TEXT, id=TEXT),
        packages={"type": "array", "minItems": 1, "items": PACKAGE},
    ),
}
RULES["properties"]["$schema"] = {
    "const": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
}


def test_the_entry_is_of_the_form_that_the_registry_asks_for() -> None:
    jsonschema.Draft7Validator.check_schema(RULES)
    jsonschema.validate(ENTRY, RULES, jsonschema.Draft7Validator)


Change = Callable[[dict[str, Any]], object]
BROKEN: dict[str, Change] = {
    "a description that is too long": lambda entry: entry.update(description="x" * 101),
    "no description": lambda entry: entry.pop("description"),
    "a name without an owner": lambda entry: entry.update(name="libravdb-memory"),
    "a name with two slashes": lambda entry: entry.update(name="io.github.a/b/c"),
    "a name with a blank owner": lambda entry: entry.update(name="io.github./b"),
    "a range of versions": lambda entry: entry.update(version="^0.1.0"),
    "another schema": lambda entry: entry.update({"$schema": "https://example.com/schema.json"}),
    "a member that nobody knows": lambda entry: entry.update(status="active"),
    "the latest package": lambda entry: entry["packages"][0].update(version="latest"),
    "a package of another registry": lambda entry: entry["packages"][0].update(registryBaseUrl="https://example.com"),
    "a name of the first schema": lambda entry: entry["packages"][0].update(registry_type="pypi"),
    "no transport": lambda entry: entry["packages"][0].pop("transport"),
    "an argument without a value": lambda entry: entry["packages"][0]["packageArguments"][0].pop("value"),
    "a format that is none": lambda entry: entry["packages"][0]["environmentVariables"][0].update(format="path"),
    "a variable without a name": lambda entry: entry["packages"][0]["environmentVariables"][0].pop("name"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_rules_notice(name: str) -> None:
    entry = copy.deepcopy(ENTRY)
    BROKEN[name](entry)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(entry, RULES, jsonschema.Draft7Validator)


def test_the_entry_is_of_this_version_and_of_a_program_that_is_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (package,) = ENTRY["packages"]
    assert ENTRY["version"] == package["version"] == __version__
    assert package["identifier"] == project["name"] in project["scripts"]
    assert package["packageArguments"] == [{"type": "positional", "value": "mcp"}]
    assert project["readme"] == "README.md"  # which the registry reads on the package's page
    (marked,) = re.findall(r"mcp-name: (\S+)", (ROOT / "README.md").read_text())
    assert marked == ENTRY["name"]


def test_the_variables_of_the_entry_are_settings_with_these_defaults() -> None:
    from libravdb_memory.config import load_config

    variables = {each["name"]: each for each in ENTRY["packages"][0]["environmentVariables"]}
    assert set(variables) == {"LIBRAVDB_MCP_USER", "LIBRAVDB_HOME"}
    assert load_config(environ={}).mcp.user == variables["LIBRAVDB_MCP_USER"]["default"]
    assert load_config(environ={"LIBRAVDB_MCP_USER": "ada"}).mcp.user == "ada"
    assert load_config(environ={"LIBRAVDB_HOME": str(ROOT / "x")}).home == ROOT / "x"


def test_help_loads_nothing_of_the_protocol() -> None:
    program = (
        "import sys; from libravdb_memory.cli import main; main(['mcp', '--help']); "
        "sys.exit(bool({'mcp', 'pydantic', 'numpy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], stdout=subprocess.DEVNULL, check=False).returncode == 0
