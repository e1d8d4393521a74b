"""Runs every command of the table in this process, in a home that uses everything, and prints what went wrong.

    every_command.py DIRECTORY [MODULE…]      the modules are as if they were not installed

A command that serves is ended by a signal. What went wrong is a line of JSON: a command that ended as a bug of
ours, that printed a traceback, or that did not end.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

TICK_S, SERVED_S, PATIENCE_S = 0.25, 1.0, 120.0  # a server is ended this long after it has said that it serves
READY = ("Ctrl-C", "mounted at", "trying again")
_OF_RIO = ("init", "show", "start", "tasks", "memory", "context", "inbox", "journal")
SERVES = {"serve", "node", "watch", "policy serve", "view", "mount"}

REAL = "type: real_robot, adapter: {class: RealRobotTargetAdapter, driver"
ARM = "{type: so101_follower, port: /dev/null, id: arm}"
TARGETS = f"""targets:
  - {{id: table, type: sim, backend: mujoco, adapter: {{class: SimTargetAdapter}}}}
  - {{id: gym, type: sim, backend: gymnasium, adapter: {{class: SimTargetAdapter}}, config: {{env_id: CartPole-v1}}}}
  - {{id: own, type: sim, backend: maniskill, adapter: {{class: SimTargetAdapter}}}}
  - {{id: arm, {REAL}: lerobot}}, config: {{robot: {ARM}}}}}
  - {{id: panda, {REAL}: franka}}, config: {{ip: 127.0.0.1}}}}
  - {{id: go2, {REAL}: unitree_go2}}, config: {{interface: lo}}}}
  - {{id: base, {REAL}: rosbridge}}, config: {{url: "ws://127.0.0.1:1"}}}}
  - {{id: cart, {REAL}: vda5050}}, config: {{broker: "mqtt://127.0.0.1:1"}}}}
"""
POLICIES = {
    "http": "{type: http, endpoint: 'http://127.0.0.1:1/predict'}",
    "openvla": "{type: openvla, endpoint: 'http://127.0.0.1:1/act'}",
    "openpi": "{type: openpi, endpoint: 'ws://127.0.0.1:1'}",
    "gr00t": "{type: gr00t, endpoint: 'tcp://127.0.0.1:1'}",
    "lerobot": "{type: lerobot, endpoint: '127.0.0.1:1'}",
    "local": "{type: local, checkpoint: nothing.onnx}",
    "leader": "{type: leader, leader: {type: so101_leader, port: /dev/null, id: led}}",
}
SKILLS = (
    "skills:\n  - {id: reach, runtime: BuiltinSkillRuntime}\n  - {id: rekep_pick, runtime: ReKepPolicyRuntime}\n"
    + "".join(
        f"  - {{id: by_{name}, runtime: VLAPolicyRuntime, policy_client: {client}}}\n"
        for name, client in POLICIES.items()
    )
)
SESSIONS = "sessions:\n" + "".join(
    f"  - {{session_id: s_{target}_{skill}, target_ref: {target}, skill_ref: {skill}, execution: {{record: true}}}}\n"
    for target, skill in [
        *(("table", f"by_{name}") for name in POLICIES),
        *((target, "reach") for target in ("table", "gym", "own", "arm", "panda", "go2", "base")),
        ("table", "rekep_pick"),
        ("arm", "rekep_pick"),
    ]
)
CONFIG: dict[str, Any] = {
    "models": {
        "planner": {"kind": "openai", "model": "m", "baseUrl": "http://127.0.0.1:1/v1"},
        "critic": {"kind": "anthropic", "model": "m", "baseUrl": "http://127.0.0.1:1"},
    },
    "webSearch": {"provider": "ddgs"},
    "agents": {"brains": [{"agent": "*", "kind": "model", "model": "planner"}]},
}


class AbsentModules:
    """In place of the finder of installed modules: some are not there."""

    def __init__(self, absent: Sequence[str]) -> None:
        self._absent = tuple(absent)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        gone = any(f"{name}.".startswith(f"{module}.") for module in self._absent)
        return None if gone else PathFinder.find_spec(name, path, target)

    def __getattr__(self, name: str) -> Any:
        return getattr(PathFinder, name)


def command_lines(home: Path, work: Path) -> Iterator[tuple[str, list[str]]]:
    """Each command of the table, by name, with words that lead it as far as it goes without a device or a server."""
    words = {
        "onboard": [[], ["--profile", "go2_edu"]],
        "up": [["--until-idle"], ["--serve", "--port", "0"], ["--until-idle", "--store", "nats"],
               ["--until-idle", "--traces", "http://127.0.0.1:1"], ["--serve", "--port", "0", "--metrics-port", "0"]],
        "do": [["clear the table"], ["what is on the table?"], ["clear the table", "--record", str(work / "film.mp4")],
               ["clear the table", "--record", str(work / "film.gif")]],
        "serve": [["--port", "0"], ["--port", "0", "--serve-9p", str(work / "9p")]],
        "mount": [["--foreground", str(work)]],
        "unmount": [[str(work)]],
        "setup": [["claude-code", str(work)]],
        "token add": [["rio"]], "token revoke": [["token-1"]],
        "page": [[]],
        "policy serve": [["--port", "0"], ["--port", "0", "--policy", str(work / "a.onnx")],
                         ["--port", "0", "--policy", str(work / "a.pt")]],
        "model check": [[], ["critic"]],
        "skill try": [["rekep_pick"], ["drafted"]], "skill allow": [["drafted", "arm"]],
        "robot add": [["arm_9"]], "robot remove": [["arm_9"]], "robot calibrate": [["arm"]],
        "robot scan": [[], ["/dev/null"]],
        "robot record": [[str(work / "data"), "s_table_reach"]],
        "robot hand-eye": [["--print", str(work / "board.png")], ["s_table_reach"]],
        "view": [[]], "watch": [["/"]],
        "stat": [["/"]], "cat": [["ENVIRONMENT.md"]], "log": [["ACTION.md"]], "diff": [["ACTION.md", "1 h ago"]],
        "write": [["TARGETS.md", str(work / "TARGETS.md")], ["SKILLS.md", str(work / "SKILLS.md")],
                  ["SESSIONS.md", str(work / "SESSIONS.md"), "--as", "planner"]],
        "rm": [["/agents/rio/notes/x"]], "mkdir": [["/agents/rio/notes"]], "mv": [["/a", "/b"]], "cp": [["/a", "/b"]],
        "grep": [["apple"]], "wait": [["ENVIRONMENT.md", "--timeout", "0"]], "sh": [["-c", "ls /"]],
        "reset": [["--yes"]], "cancel": [["act_1"]],
        "node": [["--connect", "ws://127.0.0.1:1", "--name", "n1", "--invite", "x"]],
        "store export": [[str(work / "copy")]], "store import": [[str(work / "copy")]],
        "store verify": [[str(work / "copy")]],
        "mission add": [["clear the table"]], "mission priority": [["m-1", "high"]],
        **{f"mission {verb}": [["m-1"]] for verb in ("pause", "resume", "cancel", "release")},
        "record": [[str(work / "set"), "--families", "pick", "--objects", "2", "--episodes", "1"]],
        "bench tabletop": [["--seeds", "1", "--families", "pick", "--out", str(work / "bench")]],
        "bench instructions": [["--every", "200"]],
        **{f"agent {verb}": [["rio"]] for verb in _OF_RIO},
        "agent run": [["rio", "--", "true"]], "agent event": [["rio", "note"]], "agent outcome": [["rio"]],
        "agent end": [["rio"]], "agent hook": [["rio"]], "agent search": [["rio", "apple"]],
        "agent send": [["rio", "hello", "text"]], "agent import": [["rio", str(work)]],
        "agent export": [["rio", str(work / "rio")]], "agent schema": [["journal"]], "agent rm": [["rio"]],
        "agent restore": [["rio"]], "completion": [["bash"]],
    }  # fmt: skip
    from worldfs.interfaces.cli.command_table import COMMANDS

    named = {command.name: command for command in COMMANDS}
    first = ("onboard", "agent init", "check", "write", "up")  # what the others find
    for name in dict.fromkeys((*first, *named)):
        for more in words.get(name, [[]]):
            yield name, [*name.split(), *more]
            if name not in SERVES and named[name].remote:
                yield name, ["--connect", "ws://127.0.0.1:1", *name.split(), *more]


def run_one(name: str, words: Sequence[str]) -> tuple[int, str, bool]:
    """The exit code, all that was written, and whether it was a server that had begun to serve."""
    from worldfs.interfaces.cli.main import main

    said = io.TextIOWrapper(io.BytesIO(), "utf-8", errors="backslashreplace")
    given = io.TextIOWrapper(io.BytesIO(b""))
    sys.stdin, before = given, sys.stdin
    holds = name in SERVES or "--serve" in words
    ready = 0.0

    def tick(*_: object) -> None:
        nonlocal ready
        said.flush()
        if holds and any(word.encode() in said.buffer.getvalue() for word in READY):  # type: ignore[attr-defined]
            ready += TICK_S
        if ready == SERVED_S or time.monotonic() > begun + PATIENCE_S:
            os.kill(os.getpid(), signal.SIGINT)  # once: a second one would break off the end

    begun = time.monotonic()
    signal.signal(signal.SIGALRM, tick)
    signal.setitimer(signal.ITIMER_REAL, TICK_S, TICK_S)
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = main(words)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.stdin = before
    said.flush()
    return code, said.buffer.getvalue().decode("utf-8", "replace"), ready > 0  # type: ignore[attr-defined]


def main(directory: str, *absent: str) -> None:
    sys.meta_path[:] = [AbsentModules(absent) if finder is PathFinder else finder for finder in sys.meta_path]
    home, work = Path(directory, "home"), Path(directory, "work")
    work.mkdir()
    os.environ.update(PAOS_HOME=str(home), HOME=directory, TMPDIR=directory)
    os.environ.pop("PAOS_CONNECT", None)
    for file, text in (("TARGETS.md", TARGETS), ("SKILLS.md", SKILLS), ("SESSIONS.md", SESSIONS)):
        (work / file).write_text(text)
    for name, words in command_lines(home, work):
        begun = time.monotonic()
        code, said, ready = run_one(name, words)
        if os.environ.get("EVERY_COMMAND_SHOWS"):
            print(
                json.dumps(
                    {"s": round(time.monotonic() - begun, 2), "words": words, "code": code, "said": said[-300:]},
                    ensure_ascii=False,
                ),
                file=sys.stderr,
            )
        late = code == 130 and not ready
        if code == 70 or late or "Traceback (most recent call last)" in said or "this is our bug" in said:
            print(json.dumps({"words": words, "code": code, "said": said[-3000:]}, ensure_ascii=False), flush=True)
        if name == "onboard":
            config = json.loads((home / "config.json").read_text())
            (home / "config.json").write_text(json.dumps({**config, **CONFIG}))


if __name__ == "__main__":
    main(*sys.argv[1:])
