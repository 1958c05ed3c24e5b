"""Settings → People: who may sign in, and as what. For operators."""

import logging
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from sqlmodel import Session
from starlette.responses import RedirectResponse, Response

from app.db import tables
from app.db.tables import Role
from app.errors import VitrineError
from app.web.auth import links, logins, users
from app.web.auth.gate import SignedIn
from app.web.auth.users import Person
from app.web.host import host_of
from app.web.state import database_of, settings_of
from app.web.templating import render
from app.web.urls import link
from app.web.view_models.people import PeoplePage, PersonView
from app.web.view_models.settings import NOTICES

router = APIRouter()
_log = logging.getLogger("vitrine.auth")
_Text = Annotated[str, Form(max_length=200)]
_ONE = "/settings/people/{user_id}"


def _page(request: Request, me: Person, status: int = 200, **shown: Any) -> Response:
    with database_of(request).session() as db:
        signed_in = users.count_logins(db)
        people = [
            PersonView.of(user, me, signed_in.get(user.id, 0)) for user in users.everybody(db)
        ]
    context = {"page": PeoplePage(people, **shown), "nav": "settings"}
    return render(request, "people.html", context, status=status)


def _to_page(request: Request, notice: str) -> Response:
    return RedirectResponse(link(request, "people", {"notice": notice}), 303)


def _role(text: str) -> Role:
    try:
        return Role(text)
    except ValueError:
        raise VitrineError(400, "There is no such role.") from None


def _other(db: Session, me: Person, user_id: str) -> tables.User:
    """Raises ``VitrineError`` for oneself: whoever locks the door stands on the other side of it,
    and so somebody is always left who may open it.
    """
    user = users.entry(db, user_id)
    if user.id == me.id:
        raise VitrineError(400, "This is yourself. Another operator has to do it.")
    return user


def _link_address(request: Request, token: str) -> str:
    """Whole, since it is handed on: the public address, or the one that this page was asked at."""
    public = settings_of(request).public_url.rstrip("/")
    own = f"{request.scope['scheme']}://{host_of(request.scope)}"
    path = link(request, "sign_in_with_link", token=token)
    return f"{public}/sign-in/{token}" if public else own + path


@router.get("/settings/people", name="people")
def show(request: Request, me: SignedIn, notice: str = "") -> Response:
    return _page(request, me, notice=NOTICES.get(notice, ""))


@router.post("/settings/people", name="add_person")
def add(request: Request, me: SignedIn, name: _Text = "", role: _Text = Role.VIEWER) -> Response:
    """The answer holds the link, and nothing does afterwards."""
    try:
        with database_of(request).session() as db:
            user = users.add(db, name, _role(role))
            token = links.issue(db, user.id)
    except VitrineError as refusal:
        return _page(request, me, refusal.status, error=refusal.sentence, name=name, role=role)
    _log.info("a person was added name=%s role=%s by=%s", user.name, user.role, me.name)
    return _page(request, me, link=_link_address(request, token), link_for=user.name)


@router.post(f"{_ONE}/link", name="new_link")
def new_link(request: Request, me: SignedIn, user_id: str) -> Response:
    """For somebody who forgot their password, or lost the first link."""
    with database_of(request).session() as db:
        user = _other(db, me, user_id)
        token = links.issue(db, user.id)
    _log.info("a sign-in link was made for=%s by=%s", user.name, me.name)
    return _page(request, me, link=_link_address(request, token), link_for=user.name)


@router.post(f"{_ONE}/role", name="set_role")
def set_role(request: Request, me: SignedIn, user_id: str, role: _Text = "") -> Response:
    with database_of(request).session() as db:
        user = _other(db, me, user_id)
        users.set_role(db, user, _role(role))
    _log.info("a role was changed name=%s role=%s by=%s", user.name, role, me.name)
    return _to_page(request, "role")


@router.post(f"{_ONE}/sign-out", name="sign_person_out")
def sign_out(request: Request, me: SignedIn, user_id: str) -> Response:
    """Everywhere; links that were not used yet open nothing either."""
    with database_of(request).session() as db:
        user = _other(db, me, user_id)
        logins.end_all(db, user.id)
        links.revoke_all(db, user.id)
    _log.info("a person was signed out name=%s by=%s", user.name, me.name)
    return _to_page(request, "person-signed-out")


@router.post(f"{_ONE}/remove", name="remove_person")
def remove(request: Request, me: SignedIn, user_id: str) -> Response:
    with database_of(request).session() as db:
        user = _other(db, me, user_id)
        users.remove(db, user)
    _log.info("a person was removed name=%s by=%s", user.name, me.name)
    return _to_page(request, "person-removed")
