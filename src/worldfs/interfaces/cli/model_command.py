"""`paos model check`: one short call to a configured model, and what it cost."""

from __future__ import annotations

from worldfs.base.chat_model import ModelMessage, ModelTool, ModelUnavailable
from worldfs.base.clock import SystemClock
from worldfs.base.driver import Run
from worldfs.base.errors import BadInput
from worldfs.base.stop_signal import StopSignal
from worldfs.models.open_model import open_model

from .command_context import CommandContext
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
        known = ", ".join(config.models) or "none"
        fix = f"name it in {home.config_path}: docs/models.md says how"
        raise BadInput(f"no model {name!r} is configured", op="model check", expected=f"one of: {known}", fix=fix)
    clock = SystemClock()
    try:
        model = open_model(settings, home.path, context.environ, clock)
        reply = model.reply(QUESTION, (READY,), Run(clock, float("inf"), cancel=StopSignal()))
    except ModelUnavailable as error:
        if error.code in MENDED_BY_THE_CALLER:
            raise
        context.output.report(f"{name}: {error}", {"ok": False, "model": settings.model, **error.as_dict()}, "bad")
        return REFUSED
    call = model.calls[-1]
    good = any(found.tool == READY.name for found in reply.calls)
    cost = "price not known" if call.cost_usd is None else f"{call.cost_usd:.6f} US dollars"
    said = "answered with a call" if good else "answered without the call that it was asked for"
    at = f" at {settings.base_url}" if settings.base_url else ""
    context.output.report(
        f"{name}: {settings.kind} {settings.model}{at} {said} in {call.latency_s:.2f} s, "
        f"{call.input_tokens} + {call.output_tokens} tokens, {cost}",
        {"ok": good, "name": name, "kind": settings.kind, **call.as_json()},
        "good" if good else "bad",
    )
    return DONE if good else REFUSED
