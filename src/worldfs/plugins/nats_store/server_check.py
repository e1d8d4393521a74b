"""What `paos check` says of an engine's server: whether it survives a power cut, and how many copies it keeps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.client import HTTPException
from typing import Final
from urllib.error import URLError
from urllib.request import HTTPRedirectHandler, build_opener

from worldfs.base.json_values import as_int, as_object
from worldfs.base.messages import coded
from worldfs.base.model import Finding

from .store_address import StoreAddress, shown_address

_ANSWER_S: Final = 3.0
_NANOSECONDS: Final = 1_000_000_000


def server_findings(address: StoreAddress, version: str, replicas: int, *, own: bool) -> Iterator[Finding]:
    """`own`: a server that we started, as durable as its configuration says."""
    if own:
        return
    where = f"{address.servers}/{address.bucket} (nats-server {version})"
    always = coded("engine.sync_always")
    try:
        interval = sync_interval_s(address.monitor)
    except (OSError, ValueError) as error:
        monitor = shown_address(address.monitor)
        found = coded("engine.monitor_silent", monitor=monitor, why=str(error))
        yield Finding("ENGINE_DURABILITY_UNKNOWN", where, always, found, coded("engine.name_monitor"), warning=True)
    else:
        if interval is None:
            found, fix = coded("engine.unasked"), coded("engine.name_monitor")
            yield Finding("ENGINE_DURABILITY_UNKNOWN", where, always, found, fix, warning=True)
        elif interval:
            found = coded("engine.sync_every", seconds=interval)
            yield Finding("ENGINE_NOT_DURABLE", where, always, found, coded("engine.set_sync"))
    if replicas == 1:
        expected, found = coded("engine.three_copies"), coded("engine.one_copy")
        yield Finding("ENGINE_ONE_COPY", where, expected, found, coded("engine.set_replicas"), warning=True)


class _Direct(HTTPRedirectHandler):
    """A redirect is not followed: it could lead from https to http."""

    def redirect_request(self, *_: object) -> None:
        return None


def sync_interval_s(monitor: str) -> float | None:
    """After how many seconds at most it writes to its disk; 0: before each acknowledgement; None: no monitoring to ask.

    Raises `OSError` or `ValueError` where the monitoring does not answer.
    """
    if not monitor:
        return None
    if not monitor.startswith(("http://", "https://")):
        raise ValueError(coded("engine.monitor_form"))
    try:
        with build_opener(_Direct).open(f"{monitor.rstrip('/')}/jsz", timeout=_ANSWER_S) as answer:
            config = as_object(as_object(json.load(answer)).get("config"))
    except URLError as error:
        raise OSError(str(error.reason)) from None
    except HTTPException as error:  # what it says may quote the address
        raise OSError(type(error).__name__) from None
    if config.get("sync_always"):
        return 0.0
    return as_int(config.get("sync_interval"), 120 * _NANOSECONDS) / _NANOSECONDS
