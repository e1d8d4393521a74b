"""What is written to a bucket: each change of a key is one message, on the sequence that it replaces."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Final, NamedTuple

from worldfs.base.errors import Conflict, Exists, NotFound, StorageError
from worldfs.base.messages import coded
from worldfs.storage.store_interface import ABSENT, ANY, Expected

from .bucket import GONE, Bucket, head_of, is_live
from .document import Document, NewPart, grown, new_document, read_document
from .held_leases import HeldLeases
from .jetstream_connection import EXPECTED, PATIENCE_S, RefusedRequest, StreamMessage, WrongSequence
from .write_history import AFTER, START, following

ATTEMPTS: Final = 64  # of a write that others keep overtaking
LOGS: Final = 256  # whose end is remembered, so that an append is one request


class Overtaken(StorageError):
    """Other writers were faster each time: it was not stored."""


NOT_STORED: Final = (Exists, Conflict, RefusedRequest, Overtaken)


class LogEnd(NamedTuple):
    """What an append needs to know of the log: its last message and the writes up to it, and the hash of what it holds
    so far."""

    seq: int
    writes: str
    document: Document
    digest: blake2b


class BucketWriter:
    """Its coroutines run on the connection's loop. Keys have been checked."""

    def __init__(self, bucket: Bucket, leases: HeldLeases) -> None:
        self._bucket, self._connection, self._leases = bucket, bucket.connection, leases
        self._logs: OrderedDict[str, LogEnd] = OrderedDict()
        self._turn = asyncio.Lock()

    async def read(self, key: str) -> tuple[StreamMessage, bytes] | None:
        """The key's message and its whole content. A part that is gone: the document was replaced meanwhile."""
        for _ in range(ATTEMPTS):
            found = await self._bucket.last_of(key)
            if found is None or not is_live(found.headers):
                return None
            document = read_document(found.headers, found.data)
            if not document.parts:
                return found, found.data
            loads = (self._bucket.load_part(name, path=key) for name in document.parts)
            parts = [part for part in await asyncio.gather(*loads) if part is not None]
            if len(parts) == len(document.parts):
                return found, b"".join((*parts, document.tail))
            again = await self._bucket.last_of(key)
            if again is not None and again.seq == found.seq:
                raise StorageError(coded("engine.part_missing"), path=key, op="read")
        raise self._overtaken(key, "read")

    async def put_many(self, items: Sequence[tuple[str, bytes]]) -> Sequence[str | None]:
        """All are on their way at once; a key that comes twice is the first one's."""
        first: dict[str, int] = {}
        for index, (key, _) in enumerate(items):
            first.setdefault(key, index)

        async def create(index: int) -> str | None:
            key, data = items[index]
            if first[key] != index:
                return None
            try:
                return await self.put(key, bytes(data), ABSENT)
            except Exists:
                return None

        return await asyncio.gather(*map(create, range(len(items))))

    async def put(self, key: str, data: bytes, expect: Expected, op: str = "write") -> str:
        document, parts, revision = new_document(data)
        await self._store_parts(key, parts)
        try:
            old, stored = await self._replace(key, document.tail, document.headers(revision), expect, op)
        except NOT_STORED:  # after any other error the message may be there, and name them: then they are only waste
            await self._drop_parts(part.name for part in parts)
            raise
        self._remember(key, _end(stored, document, blake2b(data, digest_size=8)))
        await self._drop_parts(old.parts)
        return revision

    async def _replace(
        self, key: str, data: bytes, headers: dict[str, str], expect: Expected, op: str
    ) -> tuple[Document, StreamMessage]:
        """Store the key's message where it is as expected. The document that it replaced, and the message.

        A group decides one message at a time of those that expect the same sequence, as all do that expect the lease's:
        it refuses the others, so they wait here.
        """
        if expect is not ANY or self._bucket.replicas == 1 or not self._leases.kernels:
            return await self._exchange(key, data, headers, expect, op)
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self._turn.acquire()
        except TimeoutError:
            raise self._connection.silent(key, op) from None
        try:
            return await self._exchange(key, data, headers, expect, op)
        finally:
            self._turn.release()

    async def _exchange(
        self, key: str, data: bytes, headers: dict[str, str], expect: Expected, op: str
    ) -> tuple[Document, StreamMessage]:
        subject = self._bucket.subject(key, op)
        asked = False
        for _ in range(ATTEMPTS):
            head = self._bucket.index.head(key)
            problem = self._unexpected(key, head.revision, expect, op)
            if problem is not None:
                if asked:
                    raise problem
                await self._bucket.refresh(key, op)
                asked = True
                continue
            fence = self._leases.fence() if expect is ANY else {EXPECTED: str(head.seq)}
            old = self._logs[key].document if key in self._logs and self._logs[key].seq == head.seq else None
            if old is None and head.live and head.size > len(data):
                found = await self._bucket.last_of(key, op)
                old = read_document(found.headers, found.data) if found is not None else None
            sent = {**headers, **fence, AFTER: head.writes}
            self._leases.demand()
            try:
                seq = await self._connection.publish(subject, data, sent, path=key, op=op)
            except WrongSequence:
                await self._leases.confirm()
                await self._bucket.refresh(key, op)
                asked = True
                continue
            stored = StreamMessage(seq, sent, data)
            self._bucket.take(subject, stored)
            self._leases.demand()
            return old or Document(), stored
        raise self._overtaken(key, op)

    def _unexpected(self, key: str, found: str | None, expect: Expected, op: str) -> Exception | None:
        if expect is ABSENT and found is not None:
            return Exists(coded("tree.exists"), path=key, op=op)
        if isinstance(expect, str) and found != expect:
            return Conflict(coded("tree.changed"), path=key, op=op, expected=coded("tree.revision", revision=expect))
        return None

    async def append(self, key: str, data: bytes) -> None:
        subject = self._bucket.subject(key, "append")
        for _ in range(ATTEMPTS):
            end = self._logs.get(key)
            if end is None:
                end = await self._end_of(key)
            document, parts = grown(end.document, data)
            digest = end.digest.copy()
            digest.update(data)
            sent = {**document.headers(digest.hexdigest()), EXPECTED: str(end.seq), AFTER: end.writes}
            await self._store_parts(key, parts)
            self._leases.demand()
            try:
                seq = await self._connection.publish(subject, document.tail, sent, path=key, op="append")
            except WrongSequence:
                self._logs.pop(key, None)
                await self._drop_parts(part.name for part in parts)
                await self._leases.confirm()
                continue
            stored = StreamMessage(seq, sent, document.tail)
            self._bucket.take(subject, stored)
            self._remember(key, _end(stored, document, digest))
            self._leases.demand()  # it may have been on its way for as long as the lease lived: nobody may act on it
            return
        raise self._overtaken(key, "append")

    async def _end_of(self, key: str) -> LogEnd:
        for _ in range(ATTEMPTS):
            found = await self.read(key)
            if found is not None:
                message, data = found
                return _end(message, read_document(message.headers, message.data), blake2b(data, digest_size=8))
            last = await self._bucket.last_of(key)
            if last is None:
                return LogEnd(0, START, Document(), blake2b(digest_size=8))
            if not is_live(last.headers):  # else it was created after it had been read
                return _end(last, Document(), blake2b(digest_size=8))
        raise self._overtaken(key, "append")

    async def delete(self, key: str, expect: Expected) -> None:
        for _ in range(ATTEMPTS):
            found = await self._bucket.last_of(key, "delete")
            if found is None or not is_live(found.headers):
                raise NotFound(coded("tree.no_file"), path=key, op="delete")
            if (problem := self._unexpected(key, head_of(found, whole=True).revision, expect, "delete")) is not None:
                raise problem
            self._leases.demand()
            try:
                await self._tombstone(key, found)
            except WrongSequence:
                await self._leases.confirm()
                continue
            return await self._drop_parts(read_document(found.headers, found.data).parts)
        raise self._overtaken(key, "delete")

    async def _tombstone(self, key: str, old: StreamMessage) -> None:
        subject = self._bucket.subject(key, "delete")
        headers = {EXPECTED: str(old.seq), AFTER: following(old.headers, old.seq), **GONE}
        new = await self._connection.publish(subject, b"", headers, path=key, op="delete")
        self._logs.pop(key, None)
        self._bucket.take(subject, StreamMessage(new, headers, b""))

    async def mark(self, prefix: str) -> None:
        subject = self._bucket.mark_subject(prefix, "mkdir")
        found = await self._bucket.last(subject, path=prefix, op="mkdir")
        if found is not None and is_live(found.headers):
            raise Exists(coded("tree.exists"), path=prefix, op="mkdir")
        headers = {EXPECTED: str(found.seq if found is not None else 0)}
        try:
            seq = await self._connection.publish(subject, b"", headers, path=prefix, op="mkdir")
        except WrongSequence:
            raise Exists(coded("tree.exists"), path=prefix, op="mkdir") from None
        self._bucket.take(subject, StreamMessage(seq, headers, b""))

    async def unmark(self, prefix: str) -> None:
        subject, headers = self._bucket.mark_subject(prefix, "remove"), dict(GONE)
        seq = await self._connection.publish(subject, b"", headers, path=prefix, op="remove")
        self._bucket.take(subject, StreamMessage(seq, headers, b""))

    async def move(self, source: str, target: str) -> None:
        """The target first: a crash between the two leaves both, and nothing is lost. Each has parts of its own, so
        that later either can be deleted."""
        for _ in range(ATTEMPTS):
            found = await self.read(source)
            if found is None:
                raise NotFound(coded("tree.no_file"), path=source, op="move")
            message, data = found
            self._leases.demand()
            revision = await self.put(target, data, ABSENT, "move")
            try:
                await self._tombstone(source, message)
            except WrongSequence:
                await self._leases.confirm()
                now = await self._bucket.last_of(source, "move")
                if now is not None and is_live(now.headers):  # it grew meanwhile
                    await self.delete(target, revision)
                    continue  # else another process has removed it, which found it at its target too
            return await self._drop_parts(read_document(message.headers, message.data).parts)
        raise self._overtaken(source, "move")

    async def _store_parts(self, key: str, parts: Iterable[NewPart]) -> None:
        for part in parts:
            await self._bucket.store_part(part.name, part.data, path=key)

    async def _drop_parts(self, names: Iterable[str]) -> None:
        for name in names:
            await self._bucket.drop_part(name)

    def _remember(self, key: str, end: LogEnd) -> None:
        self._logs[key] = end
        self._logs.move_to_end(key)
        if len(self._logs) > LOGS:
            self._logs.popitem(last=False)

    def _overtaken(self, key: str, op: str) -> Overtaken:
        return Overtaken(coded("engine.overtaken", n=ATTEMPTS), path=key, op=op)


def _end(last: StreamMessage, document: Document, digest: blake2b) -> LogEnd:
    return LogEnd(last.seq, following(last.headers, last.seq), document, digest)
