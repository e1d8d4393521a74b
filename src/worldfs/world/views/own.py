"""What an agent does below /agents/self: its chat, its jobs, what it waits for, and the services of its own."""

from __future__ import annotations

from worldfs.ground.errors import NotPermitted
from worldfs.tree.leaf import Ask, Behaviour, Names, Wait, Written

from ..compact import compact
from ..layout.agents import CONTRACT, OWN
from ..ports import Invocable, Place
from .seen import Seen, Seer

EXAMPLE = b"Put the red cube into the bowl, then tell me what is left on the table.\n"
WAITING_SIZE = 1 << 20  # what stat says of a file whose read would wait: too large is harmless (decision D11)
NO_WAIT = b'{"paths":[],"timeout_ms":60000}'
DENIED = "invoke access denied by permissions"


def views(seer: Seer) -> dict[str, Behaviour]:
    return {
        "chat_meta": ChatMeta(seer),
        "chat_input": ChatInput(seer),
        "chat_example": ChatExample(seer),
        "own_job": OwnJob(seer),
        "own_cancel": OwnCancel(seer),
        "wait_json": WaitJson(seer),
        "next_json": NextJson(seer),
        "invoke": Invoke(seer),
        "invoke_status": InvokeStatus(seer),
        "invoke_result": InvokeResult(seer),
    }


class ChatMeta(Seen):
    def read(self, names: Names) -> bytes:
        sight = self.seer.sight
        return compact(
            {
                "name": "chat",
                "version": "1",
                "agent_id": sight.binding.agent,
                "project_id": sight.project,
                "cost_hint": "provider-dependent",
                "latency_hint": "seconds",
            }
        )


class ChatInput(Seen):
    """Always reads empty; a write becomes a job at once (decision D39)."""

    def read(self, names: Names) -> bytes:
        return b""

    def write(self, names: Names, data: bytes, ask: Ask) -> Written | None:
        return self.seer.acts.talk.say(data, ask)


class ChatExample(Seen):
    def read(self, names: Names) -> bytes:
        return EXAMPLE


class OwnJob(Seen):
    """status.json, result.txt and log.txt of a job; the first two wait for its end."""

    def read(self, names: Names) -> bytes:
        return self.seer.acts.jobs.file(names["job"], names["file"])

    def wait(self, names: Names) -> Wait | None:
        return None if names["file"] == "log" else self.seer.acts.jobs.wait(names["job"])


class OwnCancel(Seen):
    """A job's `cancel`: one that is queued ends now, one that runs is asked to stop; one that has ended stays so."""

    def read(self, names: Names) -> bytes:
        return b""

    def write(self, names: Names, data: bytes, ask: Ask) -> None:
        self.seer.acts.jobs.cancel(names["job"])


class WaitJson(Seen):
    def read(self, names: Names) -> bytes:
        return self.seer.acts.talk.selector()

    def write(self, names: Names, data: bytes, ask: Ask) -> None:
        self.seer.acts.talk.select(data)


class NextJson(Seen):
    def read(self, names: Names) -> bytes:
        return self.seer.acts.talk.next()

    def wait(self, names: Names) -> Wait | None:
        return self.seer.acts.talk.wait()

    def size(self, names: Names) -> int | None:
        """A read gives the event away, so nobody reads it to count."""
        return None if self.seer.acts.talk.selector() == NO_WAIT else WAITING_SIZE


class _Orders(Seen):
    def orders(self, names: Names) -> Invocable:
        place, service = names["place"], names["service"]
        contract = place.startswith("contract:")
        described = (CONTRACT if contract else OWN)[service]
        ops, runtime = described["OPS"], described["RUNTIME"]
        assert isinstance(ops, dict)
        assert isinstance(runtime, dict)
        directory = f"services/contracts/{service}" if contract else service
        return self.seer.acts.at(Place(directory, service, "", ops["operations"], runtime))


class Invoke(_Orders):
    """A control of memory or web_search, at its own place or as a contract."""

    def read(self, names: Names) -> bytes:
        return self.orders(names).control(names["file"])

    def writable(self, names: Names) -> bool:
        return self.seer.sight.own_invokes

    def write(self, names: Names, data: bytes, ask: Ask) -> Written | None:
        if not self.writable(names):
            raise NotPermitted(DENIED, op="invoke", actor=ask.actor)
        return self.orders(names).write(names["file"], data, ask)


class InvokeStatus(_Orders):
    def read(self, names: Names) -> bytes:
        return self.orders(names).status()


class InvokeResult(_Orders):
    def read(self, names: Names) -> bytes:
        return self.orders(names).result()
