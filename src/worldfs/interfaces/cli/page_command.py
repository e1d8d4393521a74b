"""`paos page`: an address that signs a browser in to the served tree, with a token that ends."""

from __future__ import annotations

import re
import webbrowser
from pathlib import Path
from typing import Final

from worldfs.access.attachment import page_holder
from worldfs.access.binding import MOTHER
from worldfs.access.roles import OPERATOR
from worldfs.base.durable import Root
from worldfs.base.errors import BadInput, NotFound
from worldfs.base.messages import coded

from .command_context import CommandContext
from .page_address import listens, noted_address
from .token import opened_tokens

_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_SPAN: Final = re.compile(r"([1-9][0-9]{0,5})([smhd])")


def run(context: CommandContext) -> int:
    """Prints the address, this once: the token in it is not kept. With --open a browser opens it."""
    home = context.home.path
    if not home.is_dir():
        fix = coded("command.make_it", name=context.name)
        raise NotFound(coded("command.no_home"), path=str(home), op="page", fix=fix)
    agent, role, person = page_holder(context["as"] or OPERATOR, context["agent"] or "")
    person = "" if context.session_agent else context["person"] or person
    issued, token = opened_tokens(context).add(agent, role, span_s(context["valid"]), person=person)
    if agent != MOTHER:
        Root.build(Path(context.agents) / agent)
    address = f"{context['url'] or noted_address(home)}#token={token}"
    context.output.report(address, {**issued.to_json(), "url": address})
    context.output.notice(
        coded("command.page_token", id=issued.id, agent=agent, role=role, valid=context["valid"], name=context.name)
    )
    if not context["url"] and not listens(address):
        context.output.notice(coded("command.page_unserved", name=context.name_elsewhere))
    if context["open"]:
        webbrowser.open(address)
    return 0


def span_s(text: str) -> float:
    """Seconds of `90s`, `30m`, `12h`, `7d`. Raises `BadInput`."""
    found = _SPAN.fullmatch(text.strip())
    if found is None:
        raise BadInput(coded("command.no_span", text=text), op="page", expected="90s, 30m, 12h, 7d", code="USAGE")
    return int(found[1]) * _SECONDS[found[2]]
