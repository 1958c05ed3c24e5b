"""What is stored encrypted, and the key file."""

import os
import stat
import threading
from pathlib import Path

import pytest
from pydantic import ValidationError

from app import vault
from app.errors import VitrineError
from app.settings import Settings
from app.vault import UndecryptableError, Vault

OLD, NEW = "old-" * 10, "new-" * 10


def keys(*texts: str) -> Vault:
    return Vault(lambda: list(texts))


def test_what_was_sealed_opens_where_it_belongs() -> None:
    sealed = keys(OLD).seal("täglich", "here")
    assert keys(OLD).open(sealed, "here") == "täglich"
    assert "täglich".encode() not in sealed


def test_the_same_text_never_looks_alike() -> None:
    assert keys(OLD).seal("x", "here") != keys(OLD).seal("x", "here")


def test_moved_elsewhere_it_does_not_open() -> None:
    sealed = keys(OLD).seal("x", "here")
    with pytest.raises(UndecryptableError):
        keys(OLD).open(sealed, "there")


@pytest.mark.parametrize("broken", [b"", b"\x01", b"\x02" + b"x" * 60, b"\x01" + b"x" * 60])
def test_garbage_does_not_open(broken: bytes) -> None:
    with pytest.raises(UndecryptableError):
        keys(OLD).open(broken, "here")


@pytest.mark.parametrize("index", [0, 1, 5, 17, -1])
def test_nothing_of_it_can_be_changed(index: int) -> None:
    sealed = bytearray(keys(OLD).seal("x" * 20, "here"))
    sealed[index] ^= 1
    with pytest.raises(UndecryptableError):
        keys(OLD).open(bytes(sealed), "here")


def test_another_key_does_not_open_it() -> None:
    with pytest.raises(UndecryptableError):
        keys(NEW).open(keys(OLD).seal("x", "here"), "here")


def test_the_first_of_several_keys_encrypts_and_all_decrypt() -> None:
    older = keys(OLD).seal("x", "here")
    both = keys(NEW, OLD)
    assert both.open(older, "here") == "x"
    assert both.is_older(older)
    assert not both.is_current(older)
    anew = both.seal("x", "here")
    assert both.is_current(anew)
    assert keys(NEW).open(anew, "here") == "x"


def test_without_a_key_nothing_is_encrypted() -> None:
    with pytest.raises(VitrineError):
        keys().seal("x", "here")


def test_a_key_that_was_added_meanwhile_is_found() -> None:
    texts = [OLD]
    running = Vault(lambda: texts)
    texts.insert(0, NEW)
    assert running.open(keys(NEW).seal("x", "here"), "here") == "x"
    assert keys(NEW).open(running.seal("y", "here"), "here") == "y"


def test_the_first_start_makes_a_key_that_only_its_owner_reads(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data")
    before = os.umask(0)
    try:
        sealed = Vault.of(settings).seal("x", "here")
    finally:
        os.umask(before)
    assert stat.S_IMODE(vault.path(settings).stat().st_mode) == 0o600
    assert stat.S_IMODE(settings.data_dir.stat().st_mode) == 0o700
    assert Vault.of(settings).open(sealed, "here") == "x"


def test_each_deployment_has_a_key_of_its_own(tmp_path: Path) -> None:
    one, other = (Vault.of(Settings(data_dir=tmp_path / name)) for name in "ab")
    with pytest.raises(UndecryptableError):
        other.open(one.seal("x", "here"), "here")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o666])
def test_a_key_file_that_others_may_read_stops_the_start(tmp_path: Path, mode: int) -> None:
    settings = Settings(data_dir=tmp_path)
    Vault.of(settings)
    vault.path(settings).chmod(mode)
    with pytest.raises(VitrineError, match="chmod 600"):
        Vault.of(settings)


def test_a_key_file_without_a_key_is_not_taken_for_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vault, "_PATIENCE_SECONDS", 0.01)
    settings = Settings(data_dir=tmp_path)
    for text in ("", "\n", "short\n"):
        vault.path(settings).write_text(text)
        vault.path(settings).chmod(0o600)
        with pytest.raises(VitrineError, match="holds no key"):
            Vault.of(settings)


def test_two_that_start_at_once_have_the_same_key(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    started: list[Vault] = []
    barrier = threading.Barrier(8)

    def start() -> None:
        barrier.wait()
        started.append(Vault.of(settings))

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sealed = started[0].seal("x", "here")
    assert [one.open(sealed, "here") for one in started] == ["x"] * 8


def test_a_key_of_the_environment_needs_no_file(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, secret_key=NEW)
    assert Vault.of(settings).open(keys(NEW).seal("x", "here"), "here") == "x"
    assert not vault.path(settings).exists()


def test_a_deployment_can_move_from_the_file_to_the_environment(tmp_path: Path) -> None:
    sealed = Vault.of(Settings(data_dir=tmp_path)).seal("x", "here")
    moved = Vault.of(Settings(data_dir=tmp_path, secret_key=NEW))
    assert moved.open(sealed, "here") == "x"
    assert moved.is_older(sealed)


def test_a_new_key_keeps_the_one_before_it(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    sealed = Vault.of(settings).seal("x", "here")
    vault.add_key(settings)
    rotated = Vault.of(settings)
    assert rotated.is_older(sealed)
    assert rotated.open(sealed, "here") == "x"
    assert stat.S_IMODE(vault.path(settings).stat().st_mode) == 0o600
    vault.add_key(settings)
    with pytest.raises(UndecryptableError):
        Vault.of(settings).open(sealed, "here")


def test_a_weak_key_is_refused_and_not_repeated() -> None:
    with pytest.raises(ValidationError) as caught:
        Settings(secret_key=f"{OLD},too-short")
    assert "too-short" not in str(caught.value.errors()[0]["msg"])


def test_settings_do_not_show_the_key() -> None:
    assert OLD not in repr(Settings(secret_key=OLD))
