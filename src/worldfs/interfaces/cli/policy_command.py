"""`paos policy serve`: a policy on a port, until Ctrl-C or SIGTERM."""

from __future__ import annotations

from worldfs.base.clock import SystemClock
from worldfs.base.errors import BadInput
from worldfs.base.extras import needs
from worldfs.base.messages import coded

from .command_context import CommandContext
from .signals import stop_on


def serve(context: CommandContext) -> int:
    """Exit 0 when asked to stop. Raises `BadInput` for an invalid policy or port, `Busy` for a port taken."""

    with needs("policies", op="policy serve"):
        from worldfs.policies.endpoint import is_loopback
        from worldfs.policies.policy_server import PolicyServer
        from worldfs.policies.served_policies import load_policy
        from worldfs.sessions.plugins import POLICIES
    host, port = context["host"], context["port"]
    if port > 65_535:
        found = coded("command.no_port", port=port)
        raise BadInput(found, op="policy serve", expected=coded("command.ports"), code="USAGE")
    token = _token(context["token_file"])
    if not token and not is_loopback(host):
        raise BadInput(
            coded("command.open_policy", host=host), op="policy serve",
            expected=coded("command.a_token"), fix=coded("command.token_file"), code="USAGE",
        )  # fmt: skip
    policy = load_policy(context["policy"], POLICIES.get, clock := SystemClock())
    info = policy.info()  # load errors are reported before the first client connects
    server = PolicyServer(policy, clock, host, port, token=token, log=context.output.notice)
    name = info.name or context["policy"]
    place = f"[{host}]:{server.port}" if ":" in host else f"{host}:{server.port}"
    with stop_on(server.stop):
        context.output.report(
            coded("command.serving_policy", name=name, place=place),
            {"event": "policy", "state": "started", "policy": name, "host": host, "port": server.port},
        )
        server.run()
    context.output.report(coded("command.stopped_serving"), {"event": "policy", "state": "stopped"})
    return 0


def _token(file: str | None) -> str:
    from worldfs.policies.endpoint import read_secret
    from worldfs.policies.policy_client import PolicyError

    try:
        return read_secret(file) if file else ""
    except PolicyError as error:
        raise BadInput(
            error.found, path=file or "", op="policy serve", expected=error.expected, fix=error.fix
        ) from None
