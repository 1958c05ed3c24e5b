"""Secrets that a browser or a program holds: 256 random bits. The database keeps the hash."""

import hashlib
import secrets


def new_token() -> str:
    return secrets.token_urlsafe(32)


def token_hash(token: str) -> str:
    """SHA-256 in hexadecimal. A plain hash is enough: nobody can guess 256 random bits. Looking
    a row up by it takes the same time whatever part of a guess is right.
    """
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
