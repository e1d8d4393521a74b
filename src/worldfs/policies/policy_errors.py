"""The errors of a policy: found, expected, where, and the fix."""

from __future__ import annotations

from .endpoint import PolicyEndpoint
from .policy_client import PolicyError

OURS = ("http", "https", "ws", "wss")  # the protocols of `paos policy serve`


def unreachable(where: PolicyEndpoint, error: BaseException | str) -> PolicyError:
    """No server, or the connection broke. On this machine the fix is the command that starts one."""
    why = error if isinstance(error, str) else _why(error)
    start = f"paos policy serve --port {where.port}" if where.loopback and where.scheme in OURS else ""
    return PolicyError(
        why, path=str(where), expected="a policy server that answers", code="POLICY_CONNECTION",
        fix=start or f"a policy server at {where.host}:{where.port} that this machine reaches",
    )  # fmt: skip


def timed_out(where: PolicyEndpoint, timeout_s: float, what: str = "no answer") -> PolicyError:
    return PolicyError(
        f"{what} within {timeout_s:.3g} s", path=str(where), expected="an answer in time", code="POLICY_TIMEOUT",
        fix="give it more time (timeouts.skill of the session), or a faster machine",
    )  # fmt: skip


def protocol_error(where: PolicyEndpoint, found: str, expected: str, fix: str = "") -> PolicyError:
    """The received data is not of this protocol."""
    return PolicyError(
        printable(found), path=str(where), expected=expected, code="POLICY_PROTOCOL",
        fix=fix or "is policy_client.type the protocol of this server?",
    )  # fmt: skip


def policy_unusable(where: PolicyEndpoint, found: str, fix: str = "") -> PolicyError:
    """The server, or this client, reports that it cannot work."""
    return PolicyError(
        printable(found), path=str(where), expected="actions", code="POLICY_CLIENT",
        fix=fix or "see its own log; check names and shapes of its observations",
    )  # fmt: skip


def oversize(where: PolicyEndpoint, found: int, most: int) -> PolicyError:
    return protocol_error(
        where, f"an answer of {found} bytes", f"at most {most} bytes", "raise policy_client.max_bytes"
    )


def printable(text: str, most: int = 400) -> str:
    """Foreign text, fit for one line of a message."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * most]).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _why(error: BaseException) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "nothing listens there"
    if isinstance(error, TimeoutError):
        return "no connection in time"
    return printable(getattr(error, "strerror", None) or str(error) or repr(error))
