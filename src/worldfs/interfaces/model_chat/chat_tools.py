"""The tools of a model in chat: those of an agent over MCP that move nothing, and `propose`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from worldfs.access.verb import Verb
from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.model import Json
from worldfs.formats.prose import one_line
from worldfs.interfaces.mcp import places
from worldfs.interfaces.mcp.agent_tools import AGENT_TOOLS
from worldfs.interfaces.mcp.file_tools import FILE_TOOLS
from worldfs.interfaces.mcp.reading import read_instruction
from worldfs.interfaces.mcp.robot_tools import ROBOT_TOOLS
from worldfs.interfaces.mcp.tool_arguments import ToolArgument
from worldfs.interfaces.mcp.tool_spec import ToolCall, ToolSpec

_OF_ROBOTS: Final = ("stop", "operations")
INSTRUCTION_MOST: Final = 300
PROPOSALS_MOST: Final = 3


class ProposedInstruction(NamedTuple):
    """An instruction that the grammar understands; `reading`: as what."""

    text: str
    reading: str


def chat_tools(proposals: list[ProposedInstruction]) -> Sequence[ToolSpec]:
    """`proposals` takes what is proposed, so that the asker is shown it in our words and not in the model's."""

    async def propose(call: ToolCall) -> Json:
        text = " ".join(call.given.text("instruction").split())
        if len(proposals) >= PROPOSALS_MOST:
            raise BadInput(coded("model.proposed", n=PROPOSALS_MOST), op="propose", expected=coded("model.no_more"))
        reading = await read_instruction(call.tree, text)
        if reading.kind == "question":
            return {"answer": reading.text}
        if reading.kind != "command" or one_line(text, INSTRUCTION_MOST) != text:
            why, can = reading.text or coded("model.no_robot"), "; ".join(reading.can[:6])
            expected = coded("model.words_like", can=can) if can else coded("model.plain_words")
            raise BadInput(why, op="propose", expected=expected)
        proposals.append(ProposedInstruction(text, one_line(reading.text, 600)))
        return {"proposed": text, "reading": reading.text, "moved": False, "next": "answer: the asker is shown it"}

    return (
        *FILE_TOOLS,
        *(tool for tool in ROBOT_TOOLS if tool.name in _OF_ROBOTS),
        *AGENT_TOOLS,
        ToolSpec(
            "propose", "Propose an instruction", "Offer the asker an instruction for the robot, in English or Chinese "
            "('put the apple into the bowl'). It orders nothing: the asker is shown it, and may send it. A question "
            "about the scene is answered.", propose,
            (ToolArgument("instruction", "string", "in plain words", required=True, most=INSTRUCTION_MOST),),
            needs=((Verb.WRITE, places.CHAT),),
        ),
    )  # fmt: skip
