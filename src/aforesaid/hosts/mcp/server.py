"""Floor 8: the history tools on the MCP SDK, over standard input and output.

`cli/mcp` runs it. The SDK is imported here and nowhere else. Errors that a caller can do something about are results
with `isError`, so that a model reads them; a bug is one too, without its words.
"""

from __future__ import annotations

from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote

import anyio
from mcp import MCPError, types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from aforesaid import __version__
from aforesaid.errors import AforesaidError, BadArgument, UsageError
from aforesaid.hosts import wire
from aforesaid.hosts.mcp.callers import find_place
from aforesaid.hosts.mcp.lines import Incoming
from aforesaid.hosts.tools import WARNING, refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcp.server import ServerRequestContext

    from aforesaid.engine import Engine
    from aforesaid.hosts.mcp.callers import Surroundings
    from aforesaid.hosts.tools import HistoryTools
    from aforesaid.hosts.wire import Document

    Context = ServerRequestContext[Any]

NAME: Final = "aforesaid"
INSTRUCTIONS: Final = (
    "Searches the history of this coding session: the exact words that compaction removed from your context. "
    "Use history_recall before you ask the user again for something that was said, or guess it. " + WARNING
)
_SCHEME: Final = "history://session/"
_TEMPLATE: Final = _SCHEME + "{session}/entry/{entry}"
_NEAR: Final[Document] = {"anthropic/alwaysLoad": True}
"""Claude Code hides tools behind a search unless they say that they want to be seen."""


_BEAT: Final = 2.0
"""Seconds between two notes of progress."""


class HistoryServer:
    """The handlers of the protocol."""

    def __init__(
        self, engine: Engine, tools: HistoryTools, around: Surroundings, renew: Callable[[], None] = lambda: None
    ) -> None:
        """Takes what answers, from where the calls come, and what is called before each."""
        self._renew = renew
        self._engine = engine
        self._tools = tools
        self._around = around
        self._turn = anyio.CapacityLimiter(1)

    def make(self) -> Server[Any]:
        """The SDK's server with these handlers."""
        return Server(
            NAME,
            version=__version__,
            instructions=INSTRUCTIONS,
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            on_list_resources=self.list_resources,
            on_list_resource_templates=self.list_templates,
            on_read_resource=self.read_resource,
        )

    async def list_tools(self, _: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """The three tools; none if the user has switched them off."""
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool.name,
                    title=tool.title,
                    description=tool.description,
                    input_schema=tool.arguments,
                    output_schema=tool.result,
                    annotations=types.ToolAnnotations(
                        title=tool.title,
                        read_only_hint=True,
                        destructive_hint=False,
                        idempotent_hint=True,
                        open_world_hint=False,
                    ),
                    _meta=_NEAR,
                )
                for tool in self._tools.offered
            ]
        )

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """One call of a tool."""
        document = await self._answer(context, params.name, dict(params.arguments or {}))
        if "error" in document:
            return _failed(document)
        await context.session.report_progress(1, 1, "done")
        text = wire.encode(document).decode("utf-8")
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text)], structured_content=_encodable(document)
        )

    async def _answer(self, context: Context, name: str, arguments: Document) -> Document:
        """The document of a call, or of what went wrong with it; the connection is served meanwhile."""
        call = partial(self._try, name, arguments, dict(context.meta or {}))
        await context.session.report_progress(0, 1, "bringing the session up to date and searching")
        answers: list[Document] = []
        async with anyio.create_task_group() as group:
            group.start_soon(_tell, context)
            # One at a time: an engine is used by one thread at a time.
            answers.append(await anyio.to_thread.run_sync(call, limiter=self._turn))
            group.cancel_scope.cancel()
        return answers[0]

    def _try(self, name: str, arguments: Document, meta: Mapping[str, Any]) -> Document:
        try:
            return self._call(name, arguments, meta)
        except AforesaidError as error:
            return refusal(error)
        except Exception as error:  # noqa: BLE001 - a model must get an answer, and not the words of a bug
            return wire.error("internal", f"a bug: {type(error).__name__}", "go on without the history")

    def _call(self, name: str, arguments: Document, meta: Mapping[str, Any]) -> Document:
        self._renew()
        return self._tools.call(name, arguments, lambda given: find_place(self._engine, self._around, meta, given))

    async def list_resources(self, _: Context, __: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        """None: entries are found by searching, and there are too many to list."""
        return types.ListResourcesResult(resources=[])

    async def list_templates(
        self, _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """How an entry is addressed."""
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    uri_template=_TEMPLATE,
                    name="entry",
                    title="An entry of the history",
                    description="The original text of an entry, with a warning that it is quoted data.",
                    mime_type="application/json",
                )
            ]
        )

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """One entry, as `history_expand` shows it.

        Raises:
            MCPError: it cannot be shown; its data is the error of our documents.
        """
        uri = str(params.uri)
        session, slash, entry = uri.removeprefix(_SCHEME).partition("/entry/")
        if uri.startswith(_SCHEME) and session and slash and entry:
            arguments = {"session": unquote(session), "entry": [unquote(entry)]}
            document = await self._answer(context, "history_expand", arguments)
        else:
            document = refusal(BadArgument(f"there is no resource {uri}", f"write it as {_TEMPLATE}"))
        if "error" in document:
            raise _unread(document)
        text = wire.encode(document).decode("utf-8")
        contents = types.TextResourceContents(uri=params.uri, mime_type="application/json", text=text)
        return types.ReadResourceResult(contents=[contents])


def entry_uri(session: str, entry: str) -> str:
    """The address of an entry."""
    return f"{_SCHEME}{quote(session, safe='')}/entry/{quote(entry, safe='')}"


async def _tell(context: Context) -> None:
    """Says now and then that a call is still under way, so that a client with a short patience waits on."""
    for beat in count(1):
        await anyio.sleep(_BEAT)
        await context.session.report_progress(beat / (beat + 1), 1, f"searching for {beat * _BEAT:.0f} s")


def _failed(document: Document) -> types.CallToolResult:
    text = wire.encode(document).decode("utf-8")
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)


def _unread(document: Document) -> MCPError:
    told = _encodable(document["error"])
    asked_wrongly = told["code"] in {kind.code for kind in UsageError.__subclasses__()}
    number = types.INVALID_PARAMS if asked_wrongly else types.INTERNAL_ERROR
    return MCPError(number, f"{told['message']}; {told['hint']}", told)


def _encodable(value: Any) -> Any:
    """The same with lone surrogates, which the SDK cannot write, replaced."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {name: _encodable(part) for name, part in value.items()}
    return [_encodable(part) for part in value] if isinstance(value, list) else value


def run(engine: Engine, tools: HistoryTools, around: Surroundings, renew: Callable[[], None] = lambda: None) -> None:
    """Serves until the input ends; `renew` is called before each call."""
    server = HistoryServer(engine, tools, around, renew).make()

    async def serve() -> None:
        async with stdio_server() as (reading, writing):
            await server.run(Incoming(reading), writing, server.create_initialization_options())

    anyio.run(serve)
