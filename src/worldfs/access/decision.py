"""The answer of the judge: allowed, or the code and the reason of the refusal."""

from __future__ import annotations

from typing import Final, NamedTuple

from worldfs.base.errors import NotFound, NotPermitted, UserError
from worldfs.base.messages import coded


class Decision(NamedTuple):
    """True if it is allowed. `code` is that of the wire, or of `base.errors`."""

    allowed: bool
    code: str = ""
    reason: str = ""
    expected: str = ""
    fix: str = ""

    def __bool__(self) -> bool:
        return self.allowed

    @property
    def message(self) -> str:
        """The reason; without one the code in CamelCase, as the wire has it."""
        return self.reason or "".join(word.capitalize() for word in self.code.split("_"))

    def error(self, *, path: str = "", op: str = "", actor: str = "") -> UserError:
        """The refusal as an exception: `NotFound` for what the actor may not see."""
        kind = NotFound if self.code == NotFound.code else NotPermitted
        return kind(
            self.reason, path=path, op=op, actor=actor, expected=self.expected, fix=self.fix, code=self.code
        )  # fmt: skip


ALLOWED: Final = Decision(True)
HIDDEN: Final = Decision(False, NotFound.code, coded("tree.no_file"))
READ_ONLY: Final = Decision(False, "eperm", coded("tree.read_only"))
APPEND_ONLY: Final = Decision(False, "eperm", coded("tree.append_only"))
FIXED_NAMES: Final = Decision(False, NotPermitted.code, coded("tree.fixed_names"))
NO_COMMAND: Final = Decision(False, NotPermitted.code, coded("access.no_invoke"))
