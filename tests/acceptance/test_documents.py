"""Every block of every document: run as it stands in a copy of the checkout, or, where it says why not, parsed."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from worldfs.base.extras import EXTRAS
from worldfs.interfaces.mount import mount_point
from worldfs.testing import document_runner

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
ELSEWHERE = ("CONTRIBUTING.md",)  # its blocks change the source: tests/acceptance/test_contributing.py runs them
MOUNTS = "docs/tour-directory.md"
DRAWS = "docs/perception.md"
HUNDRED, INOTIFY = "docs/tour-fleet.md", Path("/proc/sys/fs/inotify/max_user_instances")
NEEDS = {
    "README.md": ("mujoco", "websockets"),
    "docs/engine.md": ("mujoco", "nats"),
    "docs/fleet.md": ("mujoco",),
    "docs/mcp.md": ("mcp", "mujoco"),
    "docs/models.md": ("mujoco", "pydantic_ai"),
    "docs/perception.md": ("mujoco", "scipy"),
    "docs/robots.md": ("mujoco", "numpy"),
    "docs/shell-and-9p.md": ("bashkit", "websockets"),
    "docs/skills.md": ("mujoco",),
    "docs/tour-directory.md": ("mujoco",),
    "docs/tour-fleet.md": ("mujoco", "nats"),
    "docs/tour-page.md": ("mujoco", "websockets"),
    "docs/tour-policy.md": ("mujoco", "pyarrow", "onnxruntime"),
    "docs/tour-tree.md": ("mujoco", "websockets"),
    "docs/vehicles.md": ("mujoco", "numpy", "paho.mqtt", "websockets"),
}


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_every_block_is_of_its_language(page: Path) -> None:
    for block in document_runner.blocks(page):
        try:
            document_runner.parse(block)
        except (ValueError, SyntaxError) as error:
            pytest.fail(f"{_name(page)}:{block.line}: {error}")


@pytest.mark.parametrize(("name", "modules"), NEEDS.items(), ids=[*NEEDS])
def test_what_make_demo_does_not_install_is_said(name: str, modules: Sequence[str]) -> None:
    """`scripts/bootstrap dev` or `make fast` brings every extra; else the page names those that its blocks need."""
    installed = set(re.findall(r"^([\w.-]+)==", (ROOT / "requirements/run.lock").read_text("utf-8"), re.M))
    brings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    text = (ROOT / name).read_text("utf-8")
    for module in modules:
        extra = next((extra for extra, known in EXTRAS.items() if module.partition(".")[0] in known), "")
        wanted = {re.split(r"[\[><=; ]", one)[0].replace(".", "-") for one in brings.get(extra, ())}
        if not wanted <= {one.replace("_", "-") for one in (*installed, "worldfs")}:
            assert re.search(rf"bootstrap dev|make fast|extra `{extra}`|\[[a-z,]*{extra}\b", text), (extra, module)


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_links_lead_to_what_is_there(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.M | re.S)
    linked = [target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in target]
    assert not [target for target in linked if target and not (page.parent / target).exists()]


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").split()) <= 1200


# What starts many worlds or takes long is run whole by `make proof`; its blocks are parsed here with the others.
# What stays: the README, and of the other pages those of a directory, of the past, of imports and of programs.
LONG = (
    "chat", "engine", "fleet", "instructions", "mcp", "models", "perception", "robots", "shell-and-9p", "skills",
    "tour-agents", "tour-fleet", "tour-page", "tour-policy", "tour-tree", "vehicles",
)  # fmt: skip
RUN = [p for p in PAGES if _name(p) not in ELSEWHERE and any(b.runs for b in document_runner.blocks(p))]


@pytest.mark.parametrize(
    "page", [pytest.param(p, marks=[pytest.mark.proof] if p.stem in LONG else []) for p in RUN], ids=_name
)
def test_every_block_does_what_its_document_says(page: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    name = _name(page)
    for module in NEEDS.get(name, ()):
        pytest.importorskip(module, reason=f"{name} needs it")
    # Below a name that is not ASCII, in the C locale, without an OpenGL: the least that another machine offers. What
    # draws has tests of its own (test_film.py, and of the demo test_recipes.py).
    place = document_runner.checkout(ROOT, tmp_path / "书 架" / "worldfs")
    if name == MOUNTS:
        if without := mount_point.why_not():
            pytest.skip(f"{name} mounts: {without}")
        request.addfinalizer(lambda: _unmount(place / "demo/tour-directory/robot"))
    if name == HUNDRED and int(INOTIFY.read_text()) < 512:
        pytest.skip(f"{name} watches a hundred directories: sysctl fs.inotify.max_user_instances is below 512")
    environ = {"LC_ALL": "C", "LANG": "C", "MUJOCO_GL": "off"}
    if name == DRAWS:
        if not (backend := pytest.importorskip("worldfs.robots.mujoco.gl").gl_status().backend):
            pytest.skip(f"{name} draws: no OpenGL")
        environ["MUJOCO_GL"] = backend
    said = document_runner.run(page, place, tmp_path / "home", environ=environ)
    assert not [text for text in said if "Traceback (most recent call last)" in text]
    if name in SAYS:
        SAYS[name](said, place)


def _unmount(directory: Path) -> None:
    """What a run that failed has left mounted."""
    if mount_point.mounted(directory):
        mount_point.unmount(directory, lazy=True)


def _perception(said: Sequence[str], place: Path) -> None:
    set_up, done = said
    assert "No problems found" in set_up or "no problems found" in set_up
    assert "planned from: camera" in done and "apple_01 red fruit" in done and '"done": true' in done


def _directory(said: Sequence[str], place: Path) -> None:
    mounted, told, edited, message, refused, left = said
    assert "mounted at" in mounted and "projects" in mounted and "ACTION.md" in mounted and "apple_01" in mounted
    assert "apple_01" in told and "in basket_01" in told
    assert "the red ones too" in edited
    assert '"count them"' in message and "waiting" in message
    assert "JSON" in refused and "LESSONS.md" in refused
    assert "unmounted" in left


def _readme(said: Sequence[str], place: Path) -> None:
    demo, arm, memory, tree, policy, robot = said
    assert "Done in" in demo and "the goal holds in the world" in demo and (place / "demo/1/workspace").is_dir()
    assert "apple" in arm and "in basket_01" in arm
    assert re.search(r"^- scripts: +\d+$", memory, re.M) and re.search(r"^rio +idle", memory, re.M)
    assert "in basket_01" in tree and "franka_001" in tree and "online" in tree
    assert re.search(r"session_id: first\n.*?status: succeeded\n", policy, re.S)
    assert "my_arm" in robot or "lerobot" in robot


def _fleet(said: Sequence[str], place: Path) -> None:
    served, missions, changed = said
    assert "wave #2: succeeded" in missions and missions.count("succeeded  ") >= 2 and "best of 1 more" in missions
    assert '"status": "completed"' in served and "| franka_002 | simulation |" in served
    assert "removed franka_001" in changed and (place / "demo/fleet/third").is_dir() is False


def _tour_fleet(said: Sequence[str], place: Path) -> None:
    one, two, hundred, stopped, hosts = said
    assert "rests inside" in one
    assert two.count("succeeded") >= 2 and "franka_002" in two
    assert (
        re.search(r"^100$", hundred, re.M)
        and '"cart_099"' in (place / "demo/tour-fleet/hundred/shared_workspace/ENVIRONMENT.md").read_text()
    )
    assert stopped.count(": stopped") == 100 and stopped.count("paused") >= 2
    assert "cart_000" in hosts and "failed" in hosts and "lost" in hosts and "succeeded" in hosts


def _agents(said: Sequence[str], place: Path) -> None:
    _, begun, ran, known, spoilt, brought, scripts, away, python, plan = said
    assert re.search(r"^rio +idle .* 0\+1 +1 \(1 high\)", begun, re.M)
    assert " completed\n" in ran and "task-001  completed  high  research" in ran
    assert "no message" in ran and "Re: Check MetaDAO" in ran and '"event": "session_end"' in ran
    assert "治理代币" in known and "[pinned] @0xfbifemboy" in known
    assert "NOT_JSON" in spoilt and "check says: 1" in spoilt and "mended" in spoilt and "task-001  completed" in spoilt
    assert "Futarchy evidence" in brought or "1 task" in brought
    assert "a second one: 2" in scripts and " completed\n" in scripts and "the script died" in scripts
    assert "restore with: paos agent restore rio" in away and "rio was restored to" in away
    assert "Polymarket fees: nothing new" in python
    assert re.search(r"^ *\d+\.\d  rio", plan, re.M) and re.search(r"^ *\d+\.\d  theseus", plan, re.M)
    assert list((place / "demo/tour-agents/agents/rio/.paos/aside").glob("*tasks.json"))


def _tree(said: Sequence[str], place: Path) -> None:
    served, told, asked, known, other, python, _ = said
    assert "nodes/" in served and "body/" in served and '"service_id":"body"' in served
    assert "apple_01" in told and "in basket_01" in told and '"state":"done"' in told
    assert '"distance_to_goal"' in asked and "PROFILE_LIMIT" in asked
    assert "<EOT>" in known and '"results":[{' in known
    assert "from the other machine" in other and "written through the tree" in other and '"state":"online"' in other
    assert "franka_001" in python and "apple" in python.lower() and "acheron" in python


def _page(said: Sequence[str], place: Path) -> None:
    address, drawn, done, stopped, past = said
    assert re.search(r"^http://127\.0\.0\.1:\d+/#token=\S{20,}$", address, re.M)
    assert '"bodies":[' in drawn and "200 default-src 'none'" in drawn
    assert '"understood":true' in done and "in basket_01" in done
    assert re.search(r"^1$", stopped, re.M)
    assert re.search(r'"apple_01".*"on_table".*"apple_01".*"in_basket"', past, re.S)


def _policy(said: Sequence[str], place: Path) -> None:
    _, recorded, shown, trained, compared, declared, ran, refused, served = said
    assert "40 episodes, " in recorded and "44 episodes, " in recorded
    assert "v3.0 44 episodes" in shown and "observation.environment_state" in shown
    assert re.search(r"epoch +\d+ +loss 0\.0", trained) and "pick.onnx" in trained
    rows = dict(re.findall(r"^\| (\w+) \| (\d)/6 ", compared, re.M))
    assert int(rows["skills"]) >= 5 and int(rows["mine"]) >= 3
    assert declared.count("bytes written") == 2
    assert re.search(r"sess_pick_001\n.*?status: succeeded\n.*?policy: pick\n", ran, re.S)
    assert re.search(r"sess_pick_002\n.*?status: failed\n.*?POLICY_ENDPOINT_UNREACHABLE", refused, re.S)
    assert "paos policy serve --port 8799" in refused
    assert re.search(r"sess_pick_003\n.*?status: succeeded\n", served, re.S)


def _robots(said: Sequence[str], place: Path) -> None:
    _, declared, mended, ran, seen, hung, walked, together = said
    assert (
        walked.count("\ndone\n") + walked.count("\n完成\n") == 4 and "| go2_edu_001 | go2_edu | quadruped |" in walked
    )
    assert re.search(r"config\.safety\n +found +watchdog\n", declared) and "joint_speed" in declared
    assert "config.safety" not in mended
    assert "sess_wave_001  shadow wave  failed (unmeasured): the driver says 'waved'" in ran
    assert re.search(r"stopped, shoulder at 0\.8", ran)
    lines = seen.splitlines()
    last = json.loads(lines[1])
    assert int(lines[0]) >= 50 and last["ee_pose"][1] == pytest.approx(0.3, abs=1e-3)
    assert {"joint limit shoulder", "joint speed", "ee speed", "workspace"} <= set(last["clamped"])
    assert re.search(r'"joint_speed": \[3\.0, 3\.0\]', seen) and '"ee_speed": 0.25' in seen
    assert "no step and no heartbeat for" in hung and '"code": "TARGET_STOPPED"' in hung
    for id in ("near", "take", "load", "back", "far", "unload"):
        assert re.search(rf"^\S+ +{id} .*succeeded", together, re.M), id


def _models(said: Sequence[str], place: Path) -> None:
    _, check, shown, confirmed, read, written, _ = said
    assert "planner: openai scripted" in check and "answered with a call" in check and len(check.splitlines()) == 1
    assert "red apple in" in shown and "Grasp" not in shown and "To do it: paos" in shown
    assert "Understood: red apple in" in confirmed and confirmed.splitlines()[-1] == "done"
    assert "pick_up" in read and "cube_01" in read
    sheet, lessons = written.split("# LESSONS", 1)
    states = dict(re.findall(r'"action_id": "([^"]+)".*?"status": "(\w+)"', sheet, re.S))
    assert states == {"pick-1": "completed", "place-1": "completed", "pick-2": "failed"}
    assert "cub_01" in lessons


def _mcp(said: Sequence[str], place: Path) -> None:
    operator, critic = [line for line in said[0].splitlines() if line.startswith("look list read")]
    assert "operate" in operator.split() and "operate" not in critic.split()
    assert '"role": "critic"' in said[0]
    began, used = said[2:4]
    assert "claude-code is set up as the agent claude-code" in began
    done, recalled = (json.loads(line) for line in used.splitlines()[:2])
    assert (done["happened"], done["state"]) == (True, "done"), done
    assert [note["text"] for note in recalled["notes"]] == ["the basket is for fruit"]


SAYS: dict[str, Callable[[Sequence[str], Path], None]] = {
    "docs/perception.md": _perception,
    "README.md": _readme,
    "docs/fleet.md": _fleet,
    "docs/mcp.md": _mcp,
    "docs/models.md": _models,
    "docs/tour-agents.md": _agents,
    MOUNTS: _directory,
    "docs/tour-tree.md": _tree,
    HUNDRED: _tour_fleet,
    "docs/tour-page.md": _page,
    "docs/tour-policy.md": _policy,
    "docs/robots.md": _robots,
}
