"""The protocol's server over the tables of tools and resources.

Laws: every failure of a tool is a result that says so, which a model can read; only a tool that is not there is an
error of the protocol. Work that lasts tells of its progress. Whose memory it is about, a tool is told by `places`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any, TypeAlias, TypeVar

import mcp.types as types
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from libravdb_memory import __version__
from libravdb_memory.errors import LibraVDBError
from libravdb_memory.mcp_server import resources, tools
from libravdb_memory.mcp_server.asking import Asks
from libravdb_memory.mcp_server.handshake import INSTRUCTIONS, NAME, TITLE
from libravdb_memory.mcp_server.schemas import arguments, as_json, input_schema, output_schema
from libravdb_memory.mcp_server.tools import TOOLS, Place, Tool

_log = logging.getLogger(__name__)
T = TypeVar("T")
Request: TypeAlias = ServerRequestContext[Any, Any]
Places: TypeAlias = Callable[[Request], Place]
PROGRESS_S = 0.5
"""How often a client hears of work that lasts."""
_PAGE = 100
_LONGEST_REASON = 1_000
RECALL = types.Prompt(
    name="recall",
    title="Recall",
    description="Bring up what memory holds about a topic, ready to be used in the conversation.",
    arguments=[types.PromptArgument(name="topic", description="what to recall", required=True)],
)


def make_server(asks: Asks, places: Places) -> Server[Any]:
    table = {tool.name: tool for tool in TOOLS}
    handlers = _Handlers(asks, places, table)
    return Server(
        NAME,
        version=__version__,
        title=TITLE,
        instructions=INSTRUCTIONS,
        cache_hints={"tools/list": CacheHint(ttl_ms=3_600_000)},
        get_tool_input_schema=lambda name: input_schema(table[name].params) if name in table else None,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )


class _Handlers:
    def __init__(self, asks: Asks, places: Places, table: dict[str, Tool[Any]]) -> None:
        self._asks = asks
        self._places = places
        self._table = table
        self._tools = [_described(tool) for tool in table.values()]

    async def list_tools(self, _: Request, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=self._tools)

    async def call_tool(self, request: Request, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = self._table.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"unknown tool: {params.name[:100]}")
        try:
            given = arguments(tool.params, params.arguments or {})
            said = await _with_progress(request, tool.title, tool.run(self._asks, self._places(request), given))
        except LibraVDBError as error:
            return _failed(f"{error.message}; {error.hint}" if error.hint else error.message)
        except Exception as error:  # the outermost frame of a tool: whatever it is, the model is told
            _log.error("%s failed: %r", tool.name, error, exc_info=error)
            return _failed(f"{tool.name} failed by a fault of its own ({type(error).__name__})")
        return types.CallToolResult(content=[_text(said.text)], structured_content=as_json(said.value))

    async def list_resources(
        self, request: Request, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        begin = _place_of(params.cursor if params else None)
        async with _as_errors():
            found = await resources.listed(self._asks, self._places(request).user)
        page = found[begin : begin + _PAGE]
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=each.uri,
                    name=each.name,
                    title=each.title,
                    description=each.description,
                    mime_type=each.mime_type,
                )
                for each in page
            ],
            next_cursor=str(begin + _PAGE) if begin + _PAGE < len(found) else None,
        )

    async def list_templates(
        self, _: Request, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=list(_TEMPLATES))

    async def read_resource(
        self, request: Request, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        async with _as_errors(params.uri):
            text, kind = await resources.read(self._asks, self._places(request).user, params.uri)
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=params.uri, mime_type=kind, text=text)]
        )

    async def list_prompts(self, _: Request, __: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[RECALL])

    async def get_prompt(self, request: Request, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        topic = (params.arguments or {}).get("topic", "").strip()
        if params.name != RECALL.name or not topic:
            raise MCPError(types.INVALID_PARAMS, "there is one prompt, recall, and it needs a topic")
        async with _as_errors():
            said = await tools.context(self._asks, self._places(request), tools.Context(prompt=topic))
        text = f"This is what my memory holds about: {topic}\n\n{said.text}"
        return types.GetPromptResult(
            description=RECALL.description,
            messages=[types.PromptMessage(role="user", content=_text(text))],
        )


_TEMPLATES = (
    types.ResourceTemplate(
        uri_template=f"{resources.DOCUMENTS}{{name}}",
        name="document",
        title="Authored document",
        description="Rules and notes that the user wrote, by name.",
        mime_type=resources.MARKDOWN,
    ),
    types.ResourceTemplate(
        uri_template=f"{resources.RECEIPTS}{{id}}",
        name="receipt",
        title="Receipt of a context",
        description="Every part of a context with its score, and what was left out and why.",
        mime_type=resources.JSON,
    ),
)


def _described(tool: Tool[Any]) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=input_schema(tool.params),
        output_schema=output_schema(tool.answer),
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.reads_only,
            destructive_hint=tool.destroys,
            idempotent_hint=tool.repeatable,
            open_world_hint=False,
        ),
    )


async def _with_progress(request: Request, title: str, work: Awaitable[T]) -> T:
    task = asyncio.ensure_future(work)
    begun = time.monotonic()
    try:
        while not (await asyncio.wait({task}, timeout=PROGRESS_S))[0]:
            elapsed = time.monotonic() - begun
            await request.session.report_progress(elapsed, None, f"{title}: memory is at work")
        return task.result()
    finally:
        task.cancel()


@contextlib.asynccontextmanager
async def _as_errors(uri: str = "") -> AsyncGenerator[None]:
    """Resources and prompts have no other way to tell of a failure."""
    try:
        yield
    except LibraVDBError as error:
        code = types.INVALID_PARAMS if resources.is_missing(error) else types.INTERNAL_ERROR
        raise MCPError(code, error.message, {"uri": uri} if uri else None) from error


def _place_of(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) < 10):
        raise MCPError(types.INVALID_PARAMS, "that is no cursor of this server")
    return int(cursor)


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


def _failed(reason: str) -> types.CallToolResult:
    """Without what was said at length: a reason may quote the argument that it is about."""
    told = reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]} […]"
    return types.CallToolResult(content=[_text(told)], is_error=True)
