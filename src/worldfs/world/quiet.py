"""A realm in which nothing is carried out: what its controls say until something is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NoReturn

from worldfs.ground.errors import Missing, NotFound
from worldfs.tree.leaf import Ask, Wait, Written

from .ports import Place
from .sight import Sight

IDLE: Final = b'{"state":"idle","tool":null,"updated_at_ms":0,"error":null}'
NO_RESULT: Final = b'{"ok":false,"result":null,"error":null}'
NO_WAIT: Final = b'{"paths":[],"timeout_ms":60000}'
NOT_WAITING: Final = b'{"configured":false,"waiting":false,"error":"wait_not_configured"}'


class Quiet:
    """Idle everywhere; every order is refused."""

    def __init__(self, sight: Sight) -> None:
        self.jobs = _Jobs()
        self.talk = _Talk()

    def at(self, place: Place) -> _Place:
        return _Place()


def _refuse(ask: Ask) -> NoReturn:
    raise Missing("nothing is carried out here", op="write", actor=ask.actor, fix="serve it with: paos serve")


class _Jobs:
    def ids(self) -> Sequence[str]:
        return ()

    def has(self, job: str) -> bool:
        return False

    def file(self, job: str, name: str) -> bytes:
        raise NotFound("no such job", path=job, op="read")

    def wait(self, job: str) -> Wait | None:
        return None


class _Talk:
    def say(self, text: bytes, ask: Ask) -> Written:
        _refuse(ask)

    def selector(self) -> bytes:
        return NO_WAIT

    def select(self, data: bytes) -> None:
        raise Missing(
            "nothing happens here that could be waited for", op="write", fix="serve this home with: paos serve"
        )

    def next(self) -> bytes:
        return NOT_WAITING

    def wait(self) -> Wait | None:
        return None


class _Place:
    def control(self, file: str) -> bytes:
        return b""

    def write(self, file: str, data: bytes, ask: Ask) -> Written:
        _refuse(ask)

    def status(self) -> bytes:
        return IDLE

    def result(self) -> bytes:
        return NO_RESULT
