"""The state prompt: a template filled with where an agent's files are, what came in, what went wrong, and its pack.

A template is text with placeholders `{name}`, those of `PLACEHOLDERS`; `{{name}}` stands for `{name}` as it is, and all
other braces are text, so JSON needs no escaping. What is filled in is never searched for placeholders.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded, render
from worldfs.base.model.agent import AgentReport, Message, SessionRecord

from .context_builder import BUDGET, ContextPack, build_context
from .context_items import LAST, finding_line, session_details
from .context_items import last_outcome as outcome_of
from .quote import Quote, quote_line
from .state_prompt_texts import CHINESE, ENGLISH
from .text_cost import Unit

if TYPE_CHECKING:
    from worldfs.base.model import Finding

PLACEHOLDERS: Final = {
    "agent": "its name",
    "state_dir": "the directory of its files",
    "agents_dir": "the directory of all agents",
    "session_id": "the session that begins",
    "session_type": "research, extract, evaluate or ad-hoc",
    "timeout": "seconds that the session may take, or nothing",
    "inbox": "the messages claimed for this session, named",
    "last": "what happened in the last session",
    "outcome": "the file that the session may write facts for its end to, or nothing",
    "faults": "what was found wrong in its files",
    "pack": "the context pack: memory, tasks and messages within the budget",
}
_NAME: Final = re.compile(r"\{\{([A-Za-z_]\w*)\}\}|\{([A-Za-z_]\w*)\}")
_LETTERS: Final = 20  # named one by one
_FAULTS: Final = 5


class StatePrompt(NamedTuple):
    text: str
    pack: ContextPack


def default_template(language: str = "en") -> str:
    """The template that is used when there is no other."""
    return CHINESE if language.startswith("zh") else ENGLISH


def check_template(template: str, file: str = "") -> None:
    """Raises `BadInput` that names the first unknown placeholder, its line, and the known ones."""
    for match in _NAME.finditer(template):
        if match[2] and match[2] not in PLACEHOLDERS:
            number = template.count("\n", 0, match.start()) + 1
            raise BadInput(
                coded("agent.no_placeholder", line=number, name=f"{{{match[2]}}}"),
                path=file,
                op="prompt",
                expected=coded("common.one_of", names=[f"{{{name}}}" for name in PLACEHOLDERS]),
                fix=coded("agent.correct_placeholder", escaped=f"{{{{{match[2]}}}}}"),
            )


def fill_template(template: str, values: Mapping[str, str], file: str = "") -> str:
    """The template, each placeholder filled once; those without a value are empty. `BadInput` as `check_template`."""
    check_template(template, file)
    return _NAME.sub(lambda match: f"{{{match[1]}}}" if match[1] else values.get(match[2], ""), template)


def build_prompt(
    agent: str,
    state_dir: str,
    memory: bytes,
    tasks: bytes,
    inbox: Sequence[Message] = (),
    *,
    last: SessionRecord | None = None,
    report: AgentReport | None = None,
    findings: Sequence[Finding] = (),
    session: SessionRecord | None = None,
    template: str | None = None,
    file: str = "",
    budget: int = BUDGET,
    unit: Unit = "tokens",
    language: str = "en",
    outcome: str = "",
) -> StatePrompt:
    """`inbox`: the messages claimed for `session`, which begins; `last`: the one before it; `file`: of the template;
    `outcome`: the path of PAOS_OUTCOME.

    The budget is the pack's; the rest is the template's length and at most some 30 lines. What the template says by
    itself of the last session and of faults, the pack does not say again. Raises `BadInput` for an unknown placeholder.
    """
    text = default_template(language) if template is None else template
    check_template(text, file)
    asked = {match[2] for match in _NAME.finditer(text) if match[2]}
    found = build_context(
        memory,
        tasks,
        inbox,
        session=None if "last" in asked else last,
        report=None if "last" in asked else report,
        findings=() if "faults" in asked else findings,
        budget=budget,
        unit=unit,
        language=language,
        agent=agent,
    )
    values = {
        "agent": quote_line(agent, 64),
        "state_dir": quote_line(state_dir, 4096),
        "agents_dir": quote_line(state_dir, 4096).rstrip("/").rpartition("/")[0],
        "session_id": quote_line(session.session_id, 80) if session else "",
        "session_type": quote_line(session.type, 40) if session else "",
        "timeout": str(session.timeout_seconds) if session and session.timeout_seconds else "",
        "inbox": claimed_messages(inbox, language),
        "outcome": render(coded("context.prompt_outcome", path=quote_line(outcome, 4096)), language) if outcome else "",
        "last": last_session(last, report, language),
        "faults": finding_lines(findings, language),
        "pack": found.text,
    }
    return StatePrompt(fill_template(text, values, file), found)


def claimed_messages(inbox: Sequence[Message], language: str = "en") -> str:
    """The claimed messages by id and sender, at most 20 of them; their text is in the pack."""
    if not inbox:
        return render(coded("context.prompt_none"), language)
    lines = [render(coded("context.prompt_claimed", count=len(inbox)), language)]
    for letter in inbox[:_LETTERS]:
        id, sender = (quote_line(text, 80).replace('"', "'") for text in (letter.id, letter.sender))
        priority = quote_line(letter.priority, 20)
        lines.append(render(coded("context.prompt_letter", id=id, sender=sender, priority=priority), language))
    if len(inbox) > _LETTERS:
        lines.append(render(coded("context.prompt_letters", count=len(inbox) - _LETTERS), language))
    return "\n".join(lines)


def last_session(last: SessionRecord | None, report: AgentReport | None, language: str = "en") -> str:
    """How the last session ended, in fixed texts; what it said of itself, quoted."""
    if last is None and report is None:
        return render(coded("context.last_none"), language)
    said = [render(coded(LAST[outcome_of(last)]), language)] if last is not None else []
    if lines := list(session_details(last, report)):
        quote = Quote(lines)
        said.append(render(coded("context.quoted", mark=quote.mark), language))
        said += [quote.open(files="session.json, report.json"), *lines, quote.close()]
    return "\n".join(said)


def finding_lines(findings: Sequence[Finding], language: str = "en") -> str:
    if not findings:
        return render(coded("context.prompt_sound"), language)
    heading = render(coded("context.prompt_faults"), language)
    lines = [heading, *(f"- {finding_line(finding, language)}" for finding in findings[:_FAULTS])]
    if len(findings) > _FAULTS:
        lines.append(render(coded("context.prompt_more", count=len(findings) - _FAULTS), language))
    return "\n".join(lines)
