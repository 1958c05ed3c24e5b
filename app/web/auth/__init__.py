"""Signing in: people and their roles, passwords, one-time links, logins, a reverse proxy's word,
API tokens, and the gate in front of everything else.
"""

from app.web.auth.gate import SignInGate, current_login, require_login
from app.web.auth.links import issue_sign_in_link
from app.web.auth.passwords import reset as reset_password
from app.web.auth.users import password_exists

__all__ = [
    "SignInGate",
    "current_login",
    "issue_sign_in_link",
    "password_exists",
    "require_login",
    "reset_password",
]
