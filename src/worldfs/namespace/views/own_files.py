"""The files below /agents/self: chat, jobs, events, and the agent's own services."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worldfs.base.json_text import compact_json
from worldfs.tree.verb_values import WAITING_SIZE, Wait, WriteContext, Written
from worldfs.tree.virtual_file import FileBehaviour, Names

from ..namespace_ports import OrderPort
from .bound_file import BoundFile, ViewContext

if TYPE_CHECKING:
    from worldfs.storage.dated_versions import DatedVersions

EXAMPLE = b"Put the red cube into the bowl, then tell me what is left on the table.\n"
NO_WAIT = b'{"paths":[],"timeout_ms":60000}'


def views(context: ViewContext) -> dict[str, FileBehaviour]:
    return {
        "chat_meta": ChatMetaFile(context),
        "chat_input": ChatInputFile(context),
        "chat_example": ChatExampleFile(context),
        "own_job": OwnJobFile(context),
        "own_cancel": OwnCancelFile(context),
        "wait_json": WaitJsonFile(context),
        "next_json": NextJsonFile(context),
        "invoke": InvokeFile(context),
        "invoke_status": InvokeStatusFile(context),
        "invoke_result": InvokeResultFile(context),
    }


class ChatMetaFile(BoundFile):
    fixed = True

    def read(self, names: Names) -> bytes:
        visible = self.context.visible
        return compact_json(
            {
                "name": "chat",
                "version": "1",
                "agent_id": visible.binding.agent,
                "project_id": visible.project,
                "cost_hint": "provider-dependent",
                "latency_hint": "seconds",
            }
        )


class ChatInputFile(BoundFile):
    """Always reads empty; a write becomes a job at once (acheron D39)."""

    def read(self, names: Names) -> bytes:
        return b""

    def write(self, names: Names, data: bytes, ask: WriteContext) -> Written | None:
        return self.context.actions.chat.send(data, ask)


class ChatExampleFile(BoundFile):
    fixed = True

    def read(self, names: Names) -> bytes:
        return EXAMPLE


class OwnJobFile(BoundFile):
    """status.json, result.txt, log.txt and message.txt of a job; the first two wait for its end."""

    def read(self, names: Names) -> bytes:
        return self.context.actions.jobs.file(names["job"], names["file"])

    def past(self, names: Names) -> DatedVersions:
        return self.context.actions.jobs.past(names["job"], names["file"])

    def wait(self, names: Names) -> Wait | None:
        return None if names["file"] in ("log", "message") else self.context.actions.jobs.wait(names["job"])


class OwnCancelFile(BoundFile):
    """A job's `cancel`: one that is queued ends now, one that runs is asked to stop; one that has ended stays so."""

    def read(self, names: Names) -> bytes:
        return b""

    def write(self, names: Names, data: bytes, ask: WriteContext) -> None:
        self.context.actions.jobs.cancel(names["job"])


class WaitJsonFile(BoundFile):
    def read(self, names: Names) -> bytes:
        return self.context.actions.chat.selector()

    def write(self, names: Names, data: bytes, ask: WriteContext) -> None:
        self.context.actions.chat.select(data)


class NextJsonFile(BoundFile):
    def read(self, names: Names) -> bytes:
        return self.context.actions.chat.next()

    def wait(self, names: Names) -> Wait | None:
        return self.context.actions.chat.wait()

    def size(self, names: Names) -> int | None:
        """A read delivers the event, so the size is not found by reading."""
        return None if self.context.actions.chat.selector() == NO_WAIT else WAITING_SIZE


class _OrderFile(BoundFile):
    def orders(self, names: Names) -> OrderPort:
        return self.context.actions.endpoint(self.context.visible.sources.own_services[names["place"]])


class InvokeFile(_OrderFile):
    """A control of memory or web_search, at its own path or as a contract."""

    def read(self, names: Names) -> bytes:
        return self.orders(names).control(names["file"])

    def write(self, names: Names, data: bytes, ask: WriteContext) -> Written | None:
        return self.orders(names).write(names["file"], data, ask)


class InvokeStatusFile(_OrderFile):
    def read(self, names: Names) -> bytes:
        return self.orders(names).status()


class InvokeResultFile(_OrderFile):
    def read(self, names: Names) -> bytes:
        return self.orders(names).result()
