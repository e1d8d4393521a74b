"""The tools of one actor, without a protocol: which there are for it, and a call from its arguments to its result."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from worldfs.base.clock import Clock
from worldfs.base.errors import NotFound, WorldError
from worldfs.base.messages import coded
from worldfs.base.model import Json
from worldfs.world.layout import ROWS

from .actor_tree import ActorTree
from .agent_tools import AGENT_TOOLS
from .file_tools import FILE_TOOLS
from .robot_tools import ROBOT_TOOLS
from .tool_arguments import read_arguments
from .tool_spec import AnswerPending, Asker, ToolCall, ToolSpec, usable
from .tool_tree import ToolTree

TOOLS: Final = (*FILE_TOOLS, *ROBOT_TOOLS, *AGENT_TOOLS)
BROKE: Final = "BUG: internal error; the log of the server has the traceback"
_LOG: Final = logging.getLogger("worldfs.mcp")


class ToolResult(NamedTuple):
    """`value` is the structured content of a call that worked; `text` what a client shows; `error`: refused."""

    text: str
    value: Json | None = None

    @property
    def error(self) -> bool:
        return self.value is None


class ToolService:
    """One for each actor; usable from any number of calls at once."""

    def __init__(self, tree: ActorTree, clock: Clock, tools: Sequence[ToolSpec] = TOOLS) -> None:
        self.tree, self._clock = tree, clock
        self.tools = {tool.name: tool for tool in usable(tools, tree.binding, ROWS)}

    async def call(self, name: str, given: Mapping[str, object], asker: Asker) -> ToolResult:
        """Refusals are results; a bug of ours goes to the log, and the client receives "internal error".

        Raises `AnswerPending` of the asker.
        """
        try:
            tool = self.tools.get(name)
            if tool is None:
                raise NotFound(
                    coded("mcp.no_tool", name=name[:60]),
                    op="call",
                    expected=coded("common.one_of", names=", ".join(self.tools)),
                )
            arguments = read_arguments(name, tool.arguments, given)
            value = await tool.run(ToolCall(ToolTree(self.tree, asker), asker, arguments, self._clock, self.tree))
        except AnswerPending:
            raise
        except WorldError as error:
            return ToolResult(f"{error.code}: {error}")
        except Exception:
            _LOG.exception("tool %s broke", name)
            return ToolResult(BROKE)
        return ToolResult(json.dumps(value, ensure_ascii=False), value)
