"""`paos node`: this machine as a node of a served world, which mounts its directories and services."""

from __future__ import annotations

import asyncio
import os
import platform
import re
from typing import TYPE_CHECKING

from worldfs import __version__
from worldfs.base.ending_signals import ending_signals
from worldfs.base.errors import BadInput
from worldfs.base.messages import coded

from .command_context import CommandContext

if TYPE_CHECKING:
    from worldfs.formats.wire.frames import Json
    from worldfs.plugins.node_fs.node_daemon import ExportedDir, NodeDaemonConfig

INVITE = "PAOS_INVITE"
LEASE_LEAST = 1.0  # s; a third of it lies between two refreshes
QUIET = {"lost"}  # reported once, not at every retry


def run(context: CommandContext) -> int:
    """Exit 0 when asked to stop. Raises `NotPermitted` when the server refuses this machine."""
    from worldfs.plugins.node_fs.node_daemon import NodeDaemon
    from worldfs.plugins.node_fs.node_identity import NodeIdentity

    plan = _plan(context)
    identity = NodeIdentity(
        context["state"] or str(context.home.path / ".paos" / "nodes" / f"{plan.name}.json"), plan.url
    )
    identity.load()
    teller = NodeEventPrinter(context)

    async def live() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in ending_signals():
            loop.add_signal_handler(number, stop.set)
        await NodeDaemon(plan, identity, dict(context.environ), teller).run(stop)

    try:
        asyncio.run(live())
    finally:
        identity.close()
    context.output.report(coded("command.node_stopped"), {"event": "node", "state": "stopped"})
    return 0


class NodeEventPrinter:
    """Prints events, each kind of problem once until it is over. A closed pipe silences it: the node goes on."""

    def __init__(self, context: CommandContext) -> None:
        self._output = context.output
        self._heard = True
        self._troubles: set[str] = set()

    def __call__(self, text: str, value: Json) -> None:
        what = str(value.get("what", ""))
        if value["event"] in QUIET:
            if what in self._troubles:
                return
            self._troubles.add(what)
            text = coded("command.trying_again", said=text)
        else:
            self._troubles.clear()
        if self._heard:
            try:
                self._output.report(text, value)
            except BrokenPipeError:
                self._heard = False


def _plan(context: CommandContext) -> NodeDaemonConfig:
    from worldfs.client import address
    from worldfs.plugins.node_fs.node_daemon import LEASE_S, NodeDaemonConfig
    from worldfs.plugins.node_fs.service_manifest import read

    if not context["connect"]:
        raise BadInput(coded("command.which_server"), op="node", expected=coded("command.a_server"))
    server = address.parse(context["connect"])
    name = context["name"] or re.sub(r"[^A-Za-z0-9._-]+", "-", platform.node()).strip("-.") or "node"
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,128}", name) or not name.strip("."):
        expected = coded("command.node_name")
        raise BadInput(coded("common.given", text=name), path="--name", op="node", expected=expected)
    shown = [parse_export(text) for text in context["export"]]
    manifests = [read(path) for path in context["service"]]
    for what, names in (("--export", [one.name for one in shown]), ("--service", [one.id for one in manifests])):
        twice = {one for one in names if names.count(one) > 1}
        if twice:
            found = coded("command.twice", names=sorted(twice))
            raise BadInput(found, path=what, op="node", expected=coded("command.differing"))
    if not shown and not manifests:
        raise BadInput(coded("command.nothing_to_export"), op="node", expected=coded("command.an_export"))
    if any(one.id == "fs" for one in manifests):
        fix = coded("command.other_service")
        raise BadInput(coded("command.own_service"), path="--service", op="node", fix=fix)
    lease = LEASE_S if context["lease"] is None else max(LEASE_LEAST, context["lease"])
    return NodeDaemonConfig(
        server.url.rstrip("/"),
        name,
        shown,
        manifests,
        context["invite"] or context.environ.get(INVITE, ""),
        address.find_token(context.environ, file=context["token_file"] or ""),
        lease,
        __version__,
    )


def parse_export(text: str) -> ExportedDir:
    """`name=path[:ro|rw]`; read-only unless it says `rw`: what others may change is said."""

    from worldfs.plugins.node_fs.node_daemon import ExportedDir

    name, sign, path = text.partition("=")
    ro = True
    for ending, value in ((":ro", True), (":rw", False)):
        if path.endswith(ending):
            path, ro = path[: -len(ending)], value
            break
    if not sign or not path or not re.fullmatch(r"[A-Za-z0-9._-]{1,128}", name) or not name.strip("."):
        expected = coded("command.export_form")
        raise BadInput(coded("common.given", text=text), path="--export", op="node", expected=expected)
    path = os.path.abspath(os.path.expanduser(path))
    if not os.path.isdir(path):
        expected = coded("command.exported_directory")
        raise BadInput(coded("command.no_directory"), path=path, op="node", expected=expected)
    return ExportedDir(name, path, ro)
