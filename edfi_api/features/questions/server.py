"""The server of the Model Context Protocol: tools, resources and prompts. Needs requirements/mcp.lock."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import anyio
import mcp_types as types
from anyio import to_thread
from django.db import connections
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from edfi_api.features.questions.asking import NOTE
from edfi_api.features.questions.exceptions import Refused
from edfi_api.features.questions.people import Place
from edfi_api.features.questions.prompts import PARAMETERS, prepared_questions
from edfi_api.features.questions.semantics import semantics
from edfi_api.features.questions.tools import TOOLS, Describe, Outcome, Session
from edfi_api.version import VERSION

# Questions that a process answers at once; others wait.
_AT_ONCE = 4
_SCHEME = "meadowlark://"
_INSTRUCTIONS = (
    "Answers questions about a school district from its Ed-Fi data, read-only and with the rights of the person who"
    " asks. Begin with describe, look numbers of people and schools up with find, and answer with ask or count. Say"
    f" which data an answer is from; when a question is refused, say so. {NOTE}"
)
_READS = types.ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
Context = ServerRequestContext[Any, Any]
# The primary key of the reader who has sent a request.
Who = Callable[[Context], int]
_Result = TypeVar("_Result")


class QuestionServer:
    """The handlers of requests; `who` says whose they are. They wait for the database in threads."""

    def __init__(self, place: Place, who: Who) -> None:
        self._place, self._who = place, who
        self._limiter = anyio.CapacityLimiter(_AT_ONCE)

    def protocol_server(self) -> Server[Any]:
        """Return the server of the SDK with these handlers."""
        return Server(
            "meadowlark",
            version=VERSION,
            title="Questions about the district's data",
            instructions=_INSTRUCTIONS,
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            on_list_resources=self.list_resources,
            on_list_resource_templates=self.list_templates,
            on_read_resource=self.read_resource,
            on_list_prompts=self.list_prompts,
            on_get_prompt=self.get_prompt,
        )

    async def list_tools(self, context: Context, params: Any) -> types.ListToolsResult:
        tools = [
            types.Tool(name=name, description=tool.description, input_schema=tool.schema, annotations=_READS)
            for name, tool in TOOLS.items()
        ]
        return types.ListToolsResult(tools=tools)

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = TOOLS.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"There is no tool {params.name}.")
        try:
            outcome = await self._in_thread(context, lambda session: tool.call(session, params.arguments or {}))
        except Refused as refusal:
            return types.CallToolResult(content=[types.TextContent(text=str(refusal))], is_error=True)
        content: list[types.ContentBlock] = [types.TextContent(text=outcome.text)]
        if outcome.picture:
            picture = types.TextResourceContents(uri="plot:svg", mime_type="image/svg+xml", text=outcome.picture)
            content.append(types.EmbeddedResource(resource=picture))
        return types.CallToolResult(content=content, structured_content=outcome.structured)

    async def list_resources(self, context: Context, params: Any) -> types.ListResourcesResult:
        domains = await self._in_thread(context, lambda session: semantics(session.place.using).domains)
        listed = {"domains": "All domains of the model", "relations": "All foreign keys between the views"}
        listed |= {f"domains/{name}": domain.documentation for name, domain in domains.items()}
        resources = [
            types.Resource(uri=f"{_SCHEME}{path}", name=path, description=text, mime_type="text/plain")
            for path, text in listed.items()
        ]
        return types.ListResourcesResult(resources=resources)

    async def list_templates(self, context: Context, params: Any) -> types.ListResourceTemplatesResult:
        templates = {
            "views/{view}": "A view, such as edfi.student: its columns, keys and relations",
            "descriptors/{descriptor}": "The values of a descriptor, such as gradeleveldescriptor",
        }
        listed = [
            types.ResourceTemplate(uri_template=f"{_SCHEME}{path}", name=path, description=text, mime_type="text/plain")
            for path, text in templates.items()
        ]
        return types.ListResourceTemplatesResult(resource_templates=listed)

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        try:
            outcome = await self._in_thread(context, partial(_described, path=uri.removeprefix(_SCHEME)))
        except Refused as refusal:
            raise MCPError(types.INVALID_PARAMS, str(refusal)) from refusal
        contents = types.TextResourceContents(uri=uri, mime_type="text/plain", text=outcome.text)
        return types.ReadResourceResult(contents=[contents])

    async def list_prompts(self, context: Context, params: Any) -> types.ListPromptsResult:
        arguments = [types.PromptArgument(name=name, description=text) for name, text in PARAMETERS.items()]
        prompts = [
            types.Prompt(name=each.name, title=each.words, description=each.words, arguments=arguments)
            for each in prepared_questions().values()
        ]
        return types.ListPromptsResult(prompts=prompts)

    async def get_prompt(self, context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        question = prepared_questions().get(params.name)
        if question is None:
            raise MCPError(types.INVALID_PARAMS, f"There is no prompt {params.name}.")
        text = types.TextContent(text=question.text(params.arguments or {}))
        return types.GetPromptResult(
            description=question.words, messages=[types.PromptMessage(role="user", content=text)]
        )

    async def _in_thread(self, context: Context, work: Callable[[Session], _Result]) -> _Result:
        """Do work in a thread for the person whose request it is. Raises Refused."""
        number = self._who(context)

        def work_and_close() -> _Result:
            try:
                return work(Session(self._place, self._place.reader(number)))
            finally:
                connections.close_all()

        return await to_thread.run_sync(work_and_close, limiter=self._limiter)


def _described(session: Session, path: str) -> Outcome:
    """Return what a resource says, by its path. Raises Refused."""
    known = semantics(session.place.using)
    kind, _, name = path.partition("/")
    if path == "relations":
        return Outcome(known.relations())
    is_there = {
        "domains": not name or known.domain(name) is not None,
        "views": known.named(name) is not None,
        "descriptors": (view := known.named(name)) is not None and known.values_statement(view) is not None,
    }
    if not is_there.get(kind):
        raise Refused(f"There is no resource {_SCHEME}{path}.")
    return session.describe(Describe(name))


def serve_stdio(place: Place, reader: int) -> None:
    """Serve one person over standard input and output, until the input ends."""
    server = QuestionServer(place, lambda context: reader).protocol_server()

    async def serve() -> None:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(serve)
