"""The state prompt: a template filled with where an agent's files are, what came in, what went wrong, and its pack.

A template is text with placeholders `{name}`, those of `PLACEHOLDERS`; `{{name}}` stands for `{name}` as it is, and all
other braces are text, so JSON needs no escaping. What is filled in is never looked at for placeholders again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from worldfs.ground.errors import BadInput
from worldfs.ground.model.agent import Message, Report, SessionRecord

from .material import details, fault_line
from .material import outcome as outcome_of
from .measure import Unit
from .pack import BUDGET, Pack, pack
from .pack_words import LAST, PACK, chosen
from .prompt_words import CHINESE, ENGLISH, SAYS
from .quote import Quote, line

if TYPE_CHECKING:
    from worldfs.ground.model import Finding

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


class Prompt(NamedTuple):
    text: str
    pack: Pack


def default(language: str = "en") -> str:
    """The template that is used when there is no other."""
    return CHINESE if language.startswith("zh") else ENGLISH


def check(template: str, file: str = "") -> None:
    """Raises `BadInput` that names the first placeholder nobody can fill, its line, and those there are."""
    for match in _NAME.finditer(template):
        if match[2] and match[2] not in PLACEHOLDERS:
            number = template.count("\n", 0, match.start()) + 1
            raise BadInput(
                f"line {number}: no placeholder {{{match[2]}}}",
                path=file,
                op="prompt",
                expected="one of: " + ", ".join(f"{{{name}}}" for name in PLACEHOLDERS),
                fix=f"correct it, or write {{{{{match[2]}}}}} if the braces are meant",
            )


def fill(template: str, values: Mapping[str, str], file: str = "") -> str:
    """The template with its placeholders filled, once; those without a value are empty. `BadInput` as `check`."""
    check(template, file)
    return _NAME.sub(lambda match: f"{{{match[1]}}}" if match[1] else values.get(match[2], ""), template)


def prompt(
    agent: str,
    state_dir: str,
    memory: bytes,
    tasks: bytes,
    inbox: Sequence[Message] = (),
    *,
    last: SessionRecord | None = None,
    report: Report | None = None,
    findings: Sequence[Finding] = (),
    session: SessionRecord | None = None,
    template: str | None = None,
    file: str = "",
    budget: int = BUDGET,
    unit: Unit = "tokens",
    language: str = "en",
    outcome: str = "",
) -> Prompt:
    """`inbox`: the messages claimed for `session`, which begins; `last`: the one before it; `file`: of the template;
    `outcome`: the path of PAOS_OUTCOME.

    The budget is the pack's; the rest is the template's length and at most some 30 lines. What the template says by
    itself of the last session and of faults, the pack does not say again. Raises `BadInput` for an unknown placeholder.
    """
    text = default(language) if template is None else template
    check(text, file)
    asked = {match[2] for match in _NAME.finditer(text) if match[2]}
    found = pack(
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
        "agent": line(agent, 64),
        "state_dir": line(state_dir, 4096),
        "agents_dir": line(state_dir, 4096).rstrip("/").rpartition("/")[0],
        "session_id": line(session.session_id, 80) if session else "",
        "session_type": line(session.type, 40) if session else "",
        "timeout": str(session.timeout_seconds) if session and session.timeout_seconds else "",
        "inbox": claimed(inbox, language),
        "outcome": _say("outcome", language, path=line(outcome, 4096)) if outcome else "",
        "last": last_time(last, report, language),
        "faults": faults(findings, language),
        "pack": found.text,
    }
    return Prompt(fill(text, values, file), found)


def claimed(inbox: Sequence[Message], language: str = "en") -> str:
    """The claimed letters by id and sender, at most 20 of them; their text stands in the pack."""
    if not inbox:
        return _say("none", language)
    lines = [_say("claimed", language, count=len(inbox))]
    for letter in inbox[:_LETTERS]:
        id, sender = (line(text, 80).replace('"', "'") for text in (letter.id, letter.sender))
        lines.append(_say("letter", language, id=id, sender=sender, priority=line(letter.priority, 20)))
    if len(inbox) > _LETTERS:
        lines.append(_say("letters", language, count=len(inbox) - _LETTERS))
    return "\n".join(lines)


def last_time(last: SessionRecord | None, report: Report | None, language: str = "en") -> str:
    """How the last session ended, in the house's words; what it said of itself, quoted."""
    if last is None and report is None:
        return chosen(LAST["none"], language)
    said = [chosen(LAST[outcome_of(last)], language)] if last is not None else []
    if lines := list(details(last, report)):
        quote = Quote(lines)
        said.append(chosen(PACK["quoted"], language).format(mark=quote.mark))
        said += [quote.open(files="session.json, report.json"), *lines, quote.close()]
    return "\n".join(said)


def faults(findings: Sequence[Finding], language: str = "en") -> str:
    if not findings:
        return _say("sound", language)
    lines = [_say("faults", language), *(f"- {fault_line(finding, language)}" for finding in findings[:_FAULTS])]
    if len(findings) > _FAULTS:
        lines.append(_say("more", language, count=len(findings) - _FAULTS))
    return "\n".join(lines)


def _say(key: str, language: str, **values: object) -> str:
    return chosen(SAYS[key], language).format(**values)
