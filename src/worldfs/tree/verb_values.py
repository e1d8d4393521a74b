"""The values of the verbs, the same on both ends of a socket: stat, content, written, wait."""

# The annotations are evaluated: typing.NamedTuple compiles each that is text, which takes longer.

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from .row_table import FileKind

DIRECTORY: Final = 0o40755
WRITABLE: Final = 0o100644
READABLE: Final = 0o100444
WAITING_SIZE: Final = 1_048_576  # of a file whose read would block: no smaller number is safe (acheron D11)


class WriteContext(NamedTuple):
    """The role of a write's actor, the actor's name (`access/standing.py`), and what its request holds besides."""

    actor: str
    offset: int = 0
    correlation: str = ""  # the caller's own id of this request; it comes back in every result of it
    name: str = ""

    @property
    def orderer(self) -> str:
        """The name, where it says more than the role."""
        return "" if self.name == self.actor else self.name


class Wait(NamedTuple):
    """Block until `ready()` or `timeout` seconds, checking again whenever one of `topics` is published."""

    topics: tuple[str, ...]
    ready: Callable[[], bool]
    timeout: float


class Written(NamedTuple):
    """The result of a write: `n` bytes taken, and further fields of the reply ("job", "result_path")."""

    n: int
    extra: Mapping[str, object] = {}
    until: Wait | None = None  # the interface waits for it, at most its timeout, before it replies
    revision: str = ""  # what is stored now; "" for what is computed

    @property
    def job(self) -> str:
        """The job that the write started; "": none."""
        return str(self.extra.get("job") or "")

    @property
    def result_path(self) -> str:
        return str(self.extra.get("result_path") or "")


class Content(NamedTuple):
    """The bytes of a file; `revision` is what a writer expects to find ("" for what is computed)."""

    data: bytes
    revision: str = ""


class Stat(NamedTuple):
    """What is at a path. `id` is stable for a path and below 2**53 (the root's is 1).

    A mount and an export fill in no `id`, `name` and `path`: they do not know where they stand in the tree.
    """

    directory: bool
    size: int = 0  # bytes; 0 for a directory
    writable: bool = False
    revision: str = ""
    mtime_ms: int = 0  # when the content was last changed, where its store knows; 0: it does not
    kind: FileKind | None = None
    id: int = 0
    name: str = ""
    path: str = ""
    real: str = ""  # the path behind the links that `path` walks through; "": `path` walks through none

    @property
    def mode(self) -> int:
        """As of a POSIX file system."""
        return DIRECTORY if self.directory else WRITABLE if self.writable else READABLE
