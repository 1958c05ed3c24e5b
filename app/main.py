"""The web application, put together."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from slowapi.errors import RateLimitExceeded
from starlette.concurrency import run_in_threadpool

from app.db.engine import Database
from app.db.migrate import upgrade
from app.mcp import copies, credentials, eras
from app.mcp.hub import Hub
from app.mcp.target import Target
from app.mcp.tool_index import ToolIndex
from app.mcp.wallet import Wallet
from app.mcp_apps import audit, policy
from app.mcp_apps.fragment import Fragments
from app.settings import Settings
from app.vault import Vault
from app.web import (
    account,
    api_tokens,
    confinement,
    deletion,
    errors,
    grants,
    health,
    limits,
    mcp_apps,
    middleware,
    outbox,
    people,
    raw,
    servers,
    sessions,
    switches,
    transcript,
)
from app.web import credentials as credential_routes
from app.web.api import sessions as api_sessions
from app.web.audit import pages as audit_pages
from app.web.audit import seen
from app.web.audit.log import AuditLog
from app.web.auth import routes as auth_routes
from app.web.live import background
from app.web.live import routes as live_routes
from app.web.live.listed import Listed
from app.web.live.long_calls import LongCalls
from app.web.live.streams import Streams
from app.web.static_files import VersionedStatic

_ROUTERS = (
    health.router,
    confinement.router,
    auth_routes.router,
    sessions.router,
    transcript.router,
    deletion.router,
    raw.router,
    switches.router,
    servers.router,
    credential_routes.router,
    grants.router,
    outbox.router,
    people.router,
    api_tokens.router,
    api_sessions.router,
    audit_pages.router,
    live_routes.router,
)


def _wallet(settings: Settings, database: Database) -> Wallet:
    vault = Vault.of(settings)
    return Wallet.of(settings, vault, credentials.salt(database, vault))


def create_app(settings: Settings) -> FastAPI:
    """The application. Its database is opened, and brought to the newest schema, when it starts.

    ``app.state`` holds ``settings``, ``limiter``, ``streams`` and ``long_calls`` at once;
    ``database``, ``audit_log``, ``hub``, ``fragments`` and ``news`` while it runs. Serve it with
    ``uvicorn --root-path`` behind a proxy that strips a base path.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        database = Database(settings.effective_database_url)
        try:
            await run_in_threadpool(upgrade, database.engine)
            wallet = await run_in_threadpool(_wallet, settings, database)

            audit_log = AuditLog(database, await run_in_threadpool(audit.hash_key, database))
            app.state.audit_log = audit_log

            async def permit(target: Target) -> bool:
                return await run_in_threadpool(policy.permits, database, target.url)

            def keep_now(target: Target, index: ToolIndex) -> None:
                with database.session() as db:
                    copies.save_tools(db, target.key, index)

            async def keep(target: Target, index: ToolIndex) -> None:
                await run_in_threadpool(keep_now, target, index)

            listed = Listed(database, app.state.streams)

            def changed(target: Target, what: str) -> None:
                fragments.expire(target)
                listed(target, what)

            spoken = eras.kept_in(database)
            async with Hub(
                settings, permit=permit, wallet=wallet, keep=keep, eras=spoken, changed=changed
            ) as hub:
                fragments = Fragments(
                    hub,
                    database,
                    cache_seconds=settings.cache_seconds,
                    max_bytes=settings.view_max_bytes,
                )
                app.state.database, app.state.hub = database, hub
                app.state.fragments = fragments
                async with (
                    background.watching(app, settings, database),
                    background.filling(database),
                    background.forgetting(database, settings.audit_days),
                ):
                    yield
                app.state.streams.close()
                await app.state.long_calls.aclose()
                await listed.aclose()
                await fragments.aclose()
                await audit_log.aclose()
        finally:
            database.dispose()

    app = FastAPI(
        title="Vitrine",
        lifespan=lifespan,
        middleware=middleware.stack(settings),
        # The interactive documentation loads scripts from elsewhere and lists every route.
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        # A redirect for a trailing slash would name a host and a scheme.
        redirect_slashes=False,
    )
    app.state.settings = settings
    app.state.limiter = limits.make_limiter()
    app.state.streams = Streams()
    app.state.long_calls = LongCalls(app.state.streams)
    errors.install(app)
    app.add_exception_handler(RateLimitExceeded, limits.limit_reached)
    limited = (
        auth_routes.make_router(app.state.limiter),
        account.make_router(app.state.limiter),
        mcp_apps.make_router(settings, app.state.limiter),
        seen.make_router(settings, app.state.limiter),
    )
    for router in (*_ROUTERS, *limited):
        app.include_router(router)
    app.mount("/static", VersionedStatic(), name="static")
    return app
