"""What is stored encrypted: AES-256-GCM under a key that is not in the database.

The key is ``VITRINE_SECRET_KEY``, or a file in the data folder that the first start makes. Several
keys may stand one after the other: the first one encrypts, all decrypt. A rotation needs no
standstill, and may be killed anywhere: until all is encrypted anew, both keys are there.
"""

import base64
import os
import secrets
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from app.errors import VitrineError
from app.settings import MIN_SECRET_KEY, Settings

FILE_NAME: Final = "secret.key"
_VERSION: Final = b"\x01"
_ID_BYTES: Final = 4
_NONCE_BYTES: Final = 12
_OTHERS_MAY: Final = stat.S_IRWXG | stat.S_IRWXO
# For the process that made the file a moment ago to have written it too.
_PATIENCE_SECONDS: Final = 2


class UndecryptableError(Exception):
    """No key opens it, or it belongs elsewhere."""


def _derived(key: str, purpose: bytes, length: int) -> bytes:
    return HKDF(hashes.SHA256(), length, salt=None, info=b"vitrine " + purpose).derive(key.encode())


class _Key:
    def __init__(self, text: str) -> None:
        self.id = _derived(text, b"key id", _ID_BYTES)
        self.cipher = AESGCM(_derived(text, b"encryption", 32))


class Vault:
    """``read`` gives the keys' texts, newest first. They are read again when something is
    encrypted and when a key is missing: another process may have rotated them.
    """

    def __init__(self, read: Callable[[], list[str]]) -> None:
        self._read = read
        self._keys: list[_Key] = []
        self._load()

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """With the keys of this deployment; makes the key file if there is no key at all.

        Raises ``VitrineError`` with a sentence when the key file cannot be used.
        """
        return cls(lambda: [*settings.secret_keys, *_of_file(settings)])

    def _load(self) -> None:
        self._keys = [_Key(text) for text in self._read()]

    def seal(self, text: str, belongs_to: str) -> bytes:
        """``text`` encrypted. It opens for the same ``belongs_to`` only: moved to another place
        in the database, it is worth nothing.
        """
        self._load()
        if not self._keys:
            raise VitrineError(503, "Nothing can be encrypted: there is no secret key.")
        key, nonce = self._keys[0], os.urandom(_NONCE_BYTES)
        sealed = key.cipher.encrypt(nonce, text.encode(), _VERSION + key.id + belongs_to.encode())
        return _VERSION + key.id + nonce + sealed

    def open(self, sealed: bytes, belongs_to: str) -> str:
        """What was sealed. Raises ``UndecryptableError``."""
        head, rest = sealed[: 1 + _ID_BYTES], sealed[1 + _ID_BYTES :]
        if head[:1] != _VERSION:
            raise UndecryptableError
        key = self._key(head[1:])
        try:
            return key.cipher.decrypt(
                rest[:_NONCE_BYTES], rest[_NONCE_BYTES:], head + belongs_to.encode()
            ).decode()
        except (InvalidTag, ValueError) as error:
            raise UndecryptableError from error

    def is_current(self, sealed: bytes) -> bool:
        """Whether the first key encrypted it."""
        return bool(self._keys) and sealed[: 1 + _ID_BYTES] == _VERSION + self._keys[0].id

    def is_older(self, sealed: bytes) -> bool:
        """Whether one of the further keys encrypted it."""
        return any(sealed[: 1 + _ID_BYTES] == _VERSION + key.id for key in self._keys[1:])

    def _key(self, key_id: bytes) -> _Key:
        for attempt in range(2):
            for key in self._keys:
                if key.id == key_id:
                    return key
            if attempt == 0:
                try:
                    self._load()
                except VitrineError as error:
                    raise UndecryptableError from error
        raise UndecryptableError


def path(settings: Settings) -> Path:
    return settings.data_dir / FILE_NAME


def _of_file(settings: Settings) -> list[str]:
    """The file's keys; where the environment has one, no file is made, but one that is there
    still decrypts: that is how a deployment moves from the one to the other.
    """
    file = path(settings)
    try:
        if not settings.secret_keys:
            _make(file)
        elif not file.exists():
            return []
        return _lines(file)
    except OSError as error:
        raise VitrineError(
            500, f"The key file {FILE_NAME} in the data folder cannot be used: {error.strerror}."
        ) from error


def _make(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        descriptor = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return
    with os.fdopen(descriptor, "w") as made:
        made.write(_new_key() + "\n")


def _new_key() -> str:
    return base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()


def _lines(file: Path) -> list[str]:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        if os.name == "posix" and file.stat().st_mode & _OTHERS_MAY:
            raise VitrineError(
                500,
                f"Others may read the key file {FILE_NAME} in the data folder. Take that away "
                f"(chmod 600), and replace the key if they did: vitrine secret rotate.",
            )
        keys = [line.strip() for line in file.read_text().splitlines() if line.strip()]
        if keys and all(len(key) >= MIN_SECRET_KEY for key in keys):
            return keys
        if time.monotonic() > deadline:
            raise VitrineError(
                500,
                f"The key file {FILE_NAME} in the data folder holds no key. Put it back from a "
                "backup; deleted, a new one is made, and every stored credential is lost.",
            )
        time.sleep(0.05)


def add_key(settings: Settings) -> None:
    """Put a new key before the file's, of which the newest is kept. Whole or not at all."""
    file = path(settings)
    keys = [_new_key(), *_of_file(settings)[:1]]
    new = file.with_name(FILE_NAME + ".new")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "w") as made:
        made.write("\n".join(keys) + "\n")
        made.flush()
        os.fsync(made.fileno())
    new.replace(file)
