"""`paos model`: one short call to a configured model, and what the calls of all models came to."""

from __future__ import annotations

from worldfs.base.chat_model import ModelMessage, ModelTool, ModelUnavailable
from worldfs.base.clock import SystemClock
from worldfs.base.driver import Run
from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.messages.message_rendering import error_message
from worldfs.base.stop_signal import StopSignal
from worldfs.models.call_log import ModelUse, model_uses
from worldfs.models.open_model import open_model

from .command_context import CommandContext
from .command_output import columns
from .exits import DONE, REFUSED

READY = ModelTool("ready", "Call this at once.", {"type": "object", "properties": {}, "additionalProperties": False})
QUESTION = (ModelMessage("system", "You are asked whether you answer."), ModelMessage("user", "Call the tool `ready`."))
MENDED_BY_THE_CALLER = ("MODEL_CONFIG", "MODEL_KEY")


def check(context: CommandContext) -> int:
    """Exit 0: it answered with a call of the tool; 1: it did not; 2: not configured, or its key cannot be used."""
    name, home = context["name"], context.home
    config = home.config(context.environ)
    where = f"models.{name}".lower()
    wrong = [f for f in config.findings if f.field.removeprefix("config.json ").lower().startswith((where, "models "))]
    if wrong:
        raise BadInput(wrong[0].found, path=wrong[0].field, op="model check", expected=wrong[0].expected,
                       fix=wrong[0].fix, code=wrong[0].code)  # fmt: skip
    settings = config.models.get(name.lower())
    if settings is None:
        known = coded("common.one_of", names=list(config.models) or coded("common.none"))
        fix = coded("command.name_model", path=home.config_path)
        raise BadInput(coded("command.no_model", name=name), op="model check", expected=known, fix=fix)
    clock = SystemClock()
    try:
        model = open_model(settings, home.path, context.environ, clock)
        reply = model.reply(QUESTION, (READY,), Run(clock, float("inf"), cancel=StopSignal()))
    except ModelUnavailable as error:
        if error.code in MENDED_BY_THE_CALLER:
            raise
        said = coded("command.agent_said", agent=name, said=error_message(error))
        context.output.report(said, {"ok": False, "model": settings.model, **error.as_dict()}, "bad")
        return REFUSED
    call = model.calls[-1]
    good = any(found.tool == READY.name for found in reply.calls)
    url = settings.base_url
    context.output.report(
        coded(
            "command.model_called" if good else "command.model_talked",
            name=name,
            kind=settings.kind,
            model=coded("command.model_at", model=settings.model, url=url) if url else settings.model,
            s=call.latency_s,
            given=call.input_tokens,
            made=call.output_tokens,
            cost=coded("command.no_price") if call.cost_usd is None else coded("command.dollars", cost=call.cost_usd),
        ),
        {"ok": good, "name": name, "kind": settings.kind, **call.as_json()},
        "good" if good else "bad",
    )
    return DONE if good else REFUSED


def usage(context: CommandContext) -> int:
    """The sums of the home's record of calls, one line for each use of a model."""
    found = model_uses(context.home.path)
    context.output.value({"models": [one._asdict() for one in found]})
    for line in columns([_line(one) for one in found]) or [coded("command.no_calls")]:
        context.output.line(line)
    return DONE


def _line(one: ModelUse) -> tuple[str, ...]:
    calls = coded("command.model_calls", n=one.calls, failed=one.failed)
    tokens = coded("command.model_tokens", given=one.input_tokens, made=one.output_tokens)
    cost = coded("command.dollars", cost=one.cost_usd)
    if one.unpriced:
        known = one.unpriced < one.calls
        cost = coded("command.partly_priced", cost=cost, n=one.unpriced) if known else coded("command.no_price")
    mean = coded("command.model_mean", s=one.latency_s / one.calls)
    return one.use, one.model, calls, tokens, cost, mean, coded("command.model_last", at=one.last_at)
