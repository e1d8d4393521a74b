"""The errors of a policy: found, expected, where, and the fix."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from worldfs.base.messages import CodedText, coded

from .endpoint import PolicyEndpoint
from .policy_client import PolicyError

MOST_SAID = 10**15  # bytes of a length in a message: a header may say any number
OURS = ("http", "https", "ws", "wss")  # the protocols of `paos policy serve`


def unreachable(where: PolicyEndpoint, error: BaseException | str) -> PolicyError:
    """No server, or the connection broke. On this machine the fix is the command that starts one."""
    why = error if isinstance(error, str) else _why(error)
    start = f"paos policy serve --port {where.port}" if where.loopback and where.scheme in OURS else ""
    return PolicyError(
        why, path=str(where), expected=coded("session.answering_server"), code="POLICY_CONNECTION",
        fix=start or coded("session.reachable_server", host=where.host, port=where.port),
    )  # fmt: skip


@contextmanager
def of_server(where: PolicyEndpoint) -> Iterator[None]:
    """What is wrong with an answer names the server that gave it."""
    try:
        yield
    except PolicyError as error:
        error.path = error.path or str(where)
        raise


def timed_out(where: PolicyEndpoint, timeout_s: float, what: str = "") -> PolicyError:
    return PolicyError(
        coded("session.late", what=what or coded("session.nothing_came"), s=timeout_s),
        path=str(where),
        expected=coded("session.answer_in_time"),
        code="POLICY_TIMEOUT",
        fix=coded("session.faster_machine"),
    )


def protocol_error(where: PolicyEndpoint, found: str, expected: str, fix: str = "") -> PolicyError:
    """The received data is not of this protocol."""
    return PolicyError(
        printable(found), path=str(where), expected=expected, code="POLICY_PROTOCOL",
        fix=fix or coded("session.see_protocol"),
    )  # fmt: skip


def policy_unusable(where: PolicyEndpoint, found: str, fix: str = "") -> PolicyError:
    """The server, or this client, reports that it cannot work."""
    return PolicyError(
        printable(found), path=str(where), expected="actions", code="POLICY_CLIENT",
        fix=fix or coded("session.see_log"),
    )  # fmt: skip


def oversize(where: PolicyEndpoint, found: int, most: int) -> PolicyError:
    said, expected = coded("session.answer_bytes", n=min(found, MOST_SAID)), coded("common.at_most_bytes", n=most)
    return protocol_error(where, said, expected, coded("session.raise_max"))


def printable(text: str, most: int = 400) -> str:
    """Foreign text, fit for one line of a message; a message as it is."""
    if isinstance(text, CodedText):
        return text
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * most]).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _why(error: BaseException) -> str:
    if isinstance(error, ConnectionRefusedError):
        return coded("session.no_listener")
    if isinstance(error, TimeoutError):
        return coded("session.no_connection")
    return printable(getattr(error, "strerror", None) or str(error) or repr(error))
