"""The demo's MCP server: a capacity planner with a view, over Streamable HTTP.

It shows every kind of tool that a view meets: one that the agent calls and whose result the view
draws, two that only the view may call, and one that only the agent may call. The host enforces
that, not the server, which cannot tell who is calling.
"""

from collections import deque
from datetime import date
from importlib.resources import files
from typing import Annotated

from mcp.server.apps import Apps, ResourceCsp
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, Field
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from app import __version__
from app.demo import plan
from app.text import one_line

PATH = "/mcp"
VIEW_URI = "ui://demo/capacity.html"
METHODS_URI = "demo://notes/methods"
PUBLISHED_URI = "demo://plans/published"
PUBLISHED_KEPT = 50

Peaks = Annotated[
    list[Annotated[float, Field(gt=0, le=1e9)]],
    Field(
        min_length=4,
        max_length=104,
        description="Highest load of each week, requests per second, oldest week first",
    ),
]
FirstWeek = Annotated[date, Field(description="A day in the oldest of these weeks, YYYY-MM-DD")]
Capacity = Annotated[
    float, Field(gt=0, le=1e9, description="Load that the service carries, requests per second")
]
Growth = Annotated[float, Field(ge=-20, le=50, description="Growth, percent a week")]
Horizon = Annotated[int, Field(ge=4, le=104, description="Weeks to look ahead")]

_READ_ONLY = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)


class PublishedPlan(BaseModel):
    number: int = Field(description="Number of this plan; they count from 1 when the server starts")
    service: str
    capacity: float = Field(description="Agreed capacity, requests per second")
    growth_percent: float = Field(description="Assumed growth, percent a week")
    note: str = Field(description="Why, in a sentence")


def _result(text: str, value: BaseModel) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content=value.model_dump(mode="json"),
    )


def show_capacity(
    service: Annotated[str, Field(min_length=1, max_length=80, description="Name of the service")],
    weekly_peaks: Peaks,
    first_week: FirstWeek,
    capacity: Capacity,
    horizon_weeks: Horizon = 26,
) -> Annotated[CallToolResult, plan.CapacityPlan]:
    """Show a person how long a service's capacity lasts, as a chart that they can change."""
    ahead = plan.forecast(weekly_peaks, first_week, capacity, horizon_weeks)
    result = plan.CapacityPlan(
        **ahead.model_dump(), service=service, history=plan.weeks_from(first_week, weekly_peaks)
    )
    text = (
        f"{one_line(service)}: load grows by {ahead.growth_percent:.1f} % a week and the capacity "
        f"is {capacity:g} requests per second. {plan.reached_sentence(ahead)}"
    )
    return _result(text, result)


def forecast(
    weekly_peaks: Peaks,
    first_week: FirstWeek,
    growth_percent: Growth,
    capacity: Capacity,
    horizon_weeks: Horizon = 26,
) -> Annotated[CallToolResult, plan.Forecast]:
    """Compute the forecast again with the growth and the capacity that a person chose."""
    ahead = plan.forecast(weekly_peaks, first_week, capacity, horizon_weeks, growth_percent)
    return _result(plan.reached_sentence(ahead), ahead)


def required_capacity(
    weekly_peaks: Peaks,
    growth_percent: Growth,
    horizon_weeks: Horizon = 26,
    headroom_percent: Annotated[float, Field(ge=0, le=200, description="Reserve, percent")] = 20,
) -> Annotated[CallToolResult, plan.Requirement]:
    """Compute the capacity that lasts for a number of weeks, with a reserve."""
    need = plan.requirement(weekly_peaks, growth_percent, horizon_weeks, headroom_percent)
    return _result(
        f"{need.capacity:g} requests per second carry the load for {horizon_weeks} weeks.", need
    )


def _published_text(plans: deque[PublishedPlan]) -> str:
    lines = [
        f"- {item.number}. {one_line(item.service)}: {item.capacity:g} requests per second, "
        f"growth {item.growth_percent:g} % a week. {one_line(item.note, 500)}".rstrip()
        for item in plans
    ]
    return "# Published plans\n\n" + ("\n".join(lines) or "None yet.") + "\n"


def create_server() -> MCPServer:
    """A fresh server with its own list of published plans; its session manager runs once."""
    view = files("app.demo").joinpath("view.html").read_text(encoding="utf-8")
    methods = files("app.demo").joinpath("methods.md").read_text(encoding="utf-8")
    published: deque[PublishedPlan] = deque(maxlen=PUBLISHED_KEPT)
    count = 0

    apps = Apps()
    apps.tool(
        resource_uri=VIEW_URI,
        visibility=["model"],
        title="Show capacity",
        annotations=_READ_ONLY,
    )(show_capacity)
    apps.add_html_resource(
        VIEW_URI,
        view,
        name="capacity",
        title="Capacity planner",
        # The document holds everything that it needs.
        csp=ResourceCsp(connect_domains=[], resource_domains=[]),
        prefers_border=False,
    )
    server = MCPServer(
        "demo",
        title="Vitrine demo",
        version=__version__,
        instructions="Shows how long a service's capacity lasts when its load keeps growing.",
        extensions=[apps],
        log_level="WARNING",
        subscriptions=False,
    )
    for function, title in (
        (forecast, "Compute the forecast"),
        (required_capacity, "Compute the capacity"),
    ):
        server.add_tool(
            function,
            title=title,
            annotations=_READ_ONLY,
            meta={"ui": {"visibility": ["app"]}},
        )

    @server.tool(
        title="Publish the plan",
        annotations=ToolAnnotations(read_only_hint=False, destructive_hint=False),
        meta={"ui": {"visibility": ["model"]}},
    )
    def publish_plan(
        service: Annotated[str, Field(min_length=1, max_length=80)],
        capacity: Capacity,
        growth_percent: Growth,
        note: Annotated[str, Field(max_length=500, description="Why, in a sentence")] = "",
    ) -> Annotated[CallToolResult, PublishedPlan]:
        """Publish an agreed plan for the team. Only after a person has agreed to it."""
        nonlocal count
        count += 1
        entry = PublishedPlan(
            number=count,
            service=service,
            capacity=capacity,
            growth_percent=growth_percent,
            note=note,
        )
        published.append(entry)
        return _result(f"Plan {count} for {one_line(service)} is published.", entry)

    @server.resource(
        METHODS_URI, name="methods", title="How it is computed", mime_type="text/markdown"
    )
    def methods_note() -> str:
        return methods

    @server.resource(
        PUBLISHED_URI, name="published", title="Published plans", mime_type="text/markdown"
    )
    def published_plans() -> str:
        return _published_text(published)

    return server


class PostOnly:
    """Answers 405 to everything but POST: in stateless mode the SDK would hold a GET open."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] != "POST":
            await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)
            return
        await self._app(scope, receive, send)


def create_app() -> ASGIApp:
    """The server as an ASGI application, its endpoint at ``PATH``; it takes a lifespan."""
    sdk_app = create_server().streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        json_response=True,
        max_request_body_size=256 * 1024,
        # A web page that a person visits must not reach it under another name.
        transport_security=TransportSecuritySettings(
            allowed_hosts=["127.0.0.1:*", "localhost:*"], allowed_origins=[]
        ),
    )
    return PostOnly(sdk_app)
