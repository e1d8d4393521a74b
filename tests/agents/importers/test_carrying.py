"""Bringing over: once each, whatever happens, and never over what the agent did since."""

import io
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

import worldfs
from worldfs.agents.agent_state import AgentState
from worldfs.base.errors import BadInput
from worldfs.base.model import AgentTask, Message, Remark
from worldfs.plugins.importers import plan, run_import
from worldfs.plugins.importers.import_types import ImportItem, ImportSource, ParsedSource
from worldfs.plugins.importers.importer_registry import ImporterRegistry
from worldfs.testing.faulty_disk import CountingDisk, CrashingDisk, SimulatedCrash
from worldfs.testing.waiting import PATIENCE_S

PLACES = ("collective", "collective-zh", "home", "beads", "mcp")


def bring(state, place, **options):
    return run_import(plan(place, "rio", **options), state)


def files_of(root):
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def tasks(state):
    return {task.id: task for task in state.tasks()}


def texts(state):
    return [remark.text for remark in state.memory().remarks]


def journal(state):
    return [entry for _, entry in state.journal.lines()]


# -- once -------------------------------------------------------------------------------------------------------------


def test_a_whole_legacy_comes_over_and_a_second_time_changes_no_byte(agent, legacy, clock, tmp_path):
    for place in PLACES:
        assert bring(agent, legacy / place, also=["research-journal"]).anything
    assert (len(agent.tasks()), len(texts(agent)), len(agent.inbox.waiting()), len(journal(agent))) == (15, 13, 6, 18)
    before = files_of(tmp_path / "agents")
    clock.advance(3600)
    for place in PLACES:
        report = bring(agent, legacy / place, also=["research-journal"])
        assert not report.anything and "already imported" in report.words()[0]
    assert files_of(tmp_path / "agents") == before


def test_two_agents_of_the_same_legacy_are_the_same(legacy, clock, tmp_path):
    for name in ("one", "two"):
        with AgentState.open("rio", tmp_path / name, create=True, clock=clock) as state:
            for place in PLACES:
                bring(state, legacy / place)
    seen = [
        {name: data for name, data in files_of(tmp_path / which).items() if ".paos/" not in name}
        for which in ("one", "two")
    ]
    assert seen[0] == seen[1] and "rio/tasks.json" in seen[0]


def test_what_comes_over_is_in_the_agents_files(agent, legacy):
    for place in PLACES:
        bring(agent, legacy / place)
    assert tasks(agent)["bd-a1b2"].extra["imported_from"].startswith("beads:")
    assert "**MetaDAO** (project): First profitable quarter was Q4 2025." in texts(agent)
    letter = next(item.message for item in agent.inbox.waiting() if item.message.sender == "leo")
    assert letter.to == "rio" and letter.priority == "high" and letter.subject.startswith("Conditional AMMs")
    entry = next(entry for entry in journal(agent) if entry["event"] == "session_end")
    assert entry == {
        "ts": "2026-03-05T19:30:15Z", "event": "session_end", "session_id": "4ee6c75b-1263-4859-acb5-4babbe8079d8",
        "outcome": "completed", "imported": True, "source": "ops-sessions:ops/sessions/20260305-193015.json",
        "import": entry["import"], "seq": entry["seq"],
    }  # fmt: skip
    assert [entry["seq"] for entry in journal(agent)] == list(range(1, len(journal(agent)) + 1))


def test_the_sessions_count_in_the_metrics_at_once_and_once(agent, legacy):
    for _ in range(2):
        bring(agent, legacy / "collective")
        lifetime = agent.metrics().lifetime
        assert [lifetime[f"sessions_{word}"] for word in ("total", "completed", "timeout", "error")] == [5, 3, 1, 1]


def test_what_was_left_out_on_purpose_is_no_fault(agent, legacy):
    report = bring(agent, legacy / "beads")
    assert len(report.skipped) == 1 and not report.not_understood
    assert [left.location.rpartition("/")[2] for left in bring(agent, legacy / "home").not_understood] == [
        "flag-nobody.md"
    ]


def test_the_source_is_never_changed(agent, legacy):
    before = files_of(legacy)
    for place in PLACES:
        bring(agent, legacy / place)
    assert files_of(legacy) == before


# -- the source goes on -----------------------------------------------------------------------------------------------

BOARD = "| Item | Priority | Claimed | Notes |\n|-|-|-|-|\n"


def test_a_source_that_grew_brings_only_what_is_new(agent, build):
    place = build(
        {
            "ops/queue.md": BOARD + "| a | low | — | |\n",
            "ops/sessions/1.json": {"id": "1", "ended": "2026-01-01T00:00:00Z", "status": "completed"},
        }
    )
    bring(agent, place)
    build(
        {
            "ops/queue.md": BOARD + "| a | low | — | |\n| b | low | — | |\n",
            "ops/sessions/2.json": {"id": "2", "ended": "2026-01-02T00:00:00Z", "status": "error"},
        }
    )
    report = bring(agent, place)
    assert report.new == {"tasks": 1, "entries": 1} and report.same == {"tasks": 1, "entries": 1}


def test_what_the_source_says_differently_comes_over_where_the_agent_has_not_touched_it(agent, build):
    place = build({"ops/queue.md": BOARD + "| a | low | — | first |\n| b | low | — | first |\n"})
    bring(agent, place)
    one, two = (task.id for task in agent.tasks())
    agent.update_task(one, status="active", context="mine")
    build({"ops/queue.md": BOARD + "| a | high | — | second |\n| b | high | — | second |\n"})
    report = bring(agent, place)
    assert report.changed == {"tasks": 1}
    assert (tasks(agent)[one].context, tasks(agent)[one].priority) == ("mine", "low")
    assert (tasks(agent)[two].context, tasks(agent)[two].priority) == ("second", "high")
    assert len(report.kept) == 1 and one in report.kept[0] and "priority high" in report.kept[0]
    again = bring(agent, place)
    assert not again.anything and not again.kept


def test_a_board_that_was_only_touched_changes_nothing(agent, build, tmp_path):
    place = build({"ops/queue.md": BOARD + "| a | low | — | |\n"})
    bring(agent, place)
    before = files_of(tmp_path / "agents")
    os.utime(place / "ops/queue.md", (0, 0))
    assert not bring(agent, place).anything and files_of(tmp_path / "agents") == before


def test_a_task_that_the_agent_closed_is_never_opened_again(agent, build):
    """A peer's background import reverted acknowledged writes seconds later."""
    row = {"id": "x-1", "title": "t", "status": "open", "priority": 2, "created_at": "2026-01-01T00:00:00Z"}
    place = build({".beads/issues.jsonl": row})
    bring(agent, place)
    agent.close_task("x-1", "done by me")
    build({".beads/issues.jsonl": {**row, "status": "in_progress", "updated_at": "2026-02-01T00:00:00Z"}})
    report = bring(agent, place)
    assert tasks(agent)["x-1"].status == "completed" and tasks(agent)["x-1"].outcome == "done by me"
    assert "status active" in report.kept[0]


def test_what_is_gone_from_the_source_stays_and_is_named(agent, build):
    place = build({"ops/queue.md": BOARD + "| a | low | — | |\n| b | low | — | |\n"})
    bring(agent, place)
    first = agent.tasks()[0].id
    build({"ops/queue.md": BOARD + "| b | low | — | |\n"})
    report = bring(agent, place)
    assert report.gone == [first] and not report.anything and len(agent.tasks()) == 2


def test_a_topic_that_changed_takes_the_place_of_its_note_unless_the_agent_curated_it(agent, build):
    head = "---\nname: {}\n---\n"
    place = build(
        {
            "memory/MEMORY.md": "- own note\n",
            "memory/a.md": head.format("a") + "old a\n",
            "memory/b.md": head.format("b") + "old b\n",
        }
    )
    bring(agent, place)
    agent.edit_memory(lambda data: data.replace(b"old b", b"my b"))
    build({"memory/a.md": head.format("a") + "new a\n", "memory/b.md": head.format("b") + "new b\n"})
    report = bring(agent, place)
    assert report.changed == {"notes": 1} and len(report.kept) == 1
    assert texts(agent) == ["own note", "**b**\nmy b", "**a**\nnew a"]
    assert not bring(agent, place).anything


def test_a_note_that_the_agent_removed_stays_away(agent, legacy):
    bring(agent, legacy / "mcp")
    agent.edit_memory(lambda data: data.replace(b"- **@proph3t** (person)\n", b""))
    assert not bring(agent, legacy / "mcp").anything and "**@proph3t** (person)" not in texts(agent)


def test_a_letter_that_was_read_does_not_come_back(agent, legacy):
    bring(agent, legacy / "home", importers=["flags"])
    agent.inbox.claim_all("session", token="s")
    agent.inbox.ack_all("s")
    assert not bring(agent, legacy / "home", importers=["flags"]).anything and not agent.inbox.waiting()


# -- names ----------------------------------------------------------------------------------------------------------


def test_an_id_that_is_taken_gets_another_name_and_what_points_to_it_follows(agent, build):
    agent.add_task("the agent's own", id="x-1")
    row = {"status": "open", "priority": 2, "created_at": "2026-01-01T00:00:00Z"}
    ties = [{"depends_on_id": "x-1", "type": "blocks"}, {"depends_on_id": "x-1", "type": "parent-child"}]
    rows = [
        {"id": "x-1", "title": "theirs", **row},
        {"id": "x-2", "title": "waits", **row, "dependencies": ties},
    ]
    place = build({".beads/issues.jsonl": "".join(json.dumps(row) + "\n" for row in rows)})
    report = bring(agent, place)
    new = report.renamed["x-1"]
    assert new.startswith("x-1-") and tasks(agent)[new].description == "theirs"
    assert tasks(agent)["x-1"].description == "the agent's own"
    assert tasks(agent)["x-2"].extra["depends_on"] == [new] and tasks(agent)["x-2"].follow_up_from == new
    assert not bring(agent, place).anything


# -- what is left, and copies -----------------------------------------------------------------------------------------


def record(agent):
    return [json.loads(line) for line in (agent.agent_dir.path / ".paos/imports.jsonl").read_text().splitlines()]


def test_what_was_not_understood_stands_in_the_record_with_its_bytes_once(agent, build):
    place = build(
        {"memory.jsonl": b'{"type":"entity","name":"A","entityType":"t","observations":["x"]}\n{"half\n\xff\xfe\xfd\n'}
    )
    for _ in range(2):
        report = bring(agent, place)
        assert [left.location for left in report.skipped] == ["memory.jsonl:2", "memory.jsonl:3"]
    (line,) = record(agent)
    assert line["left"][0]["text"] == '{"half' and line["left"][1]["base64"] == "//79"


def test_the_files_of_a_source_are_kept_as_they_were(agent, legacy):
    bring(agent, legacy / "collective", importers=["ops-queue"])
    (line,) = record(agent)
    with tarfile.open(fileobj=io.BytesIO((agent.agent_dir.path / line["copy"]).read_bytes())) as archive:
        kept = {name: archive.extractfile(name).read() for name in archive.getnames()}
    assert kept == {"ops/queue.md": (legacy / "collective/ops/queue.md").read_bytes()}


def test_a_copy_holds_only_the_files_that_are_new(agent, build):
    ended = {"ended": "2026-01-01T00:00:00Z", "status": "completed"}
    place = build({"ops/sessions/1.json": {"id": "1", **ended}})
    bring(agent, place)
    build({"ops/sessions/2.json": {"id": "2", **ended}})
    bring(agent, place)
    names = []
    for line in record(agent):
        with tarfile.open(agent.agent_dir.path / line["copy"]) as archive:
            names.append(archive.getnames())
    assert names == [["ops/sessions/1.json"], ["ops/sessions/2.json"]]


def test_a_large_source_is_not_copied_and_that_is_said(agent, build, monkeypatch):
    monkeypatch.setattr("worldfs.plugins.importers.import_record.COPY_MAX", 10)
    report = bring(agent, build({"ops/queue.md": BOARD + "| a | low | — | |\n"}))
    assert "ops/queue.md: no copy kept" in report.words()[1] and "copy" not in record(agent)[0]


SECRET = "AKIAIOSFODNN7EXAMPLE"


def test_no_secret_of_a_source_reaches_our_disk(agent, build, tmp_path):
    message = {"type": "user_message", "message": f"key {SECRET}"}
    rows = [
        {"timestamp": "2026-03-05T19:00:00Z", "type": "session_meta", "payload": {"id": "s"}},
        {"timestamp": "2026-03-05T19:00:01Z", "type": "event_msg", "payload": message},
    ]
    place = build(
        {
            ".codex/sessions/2026/03/05/rollout-a.jsonl": "".join(json.dumps(row) + "\n" for row in rows),
            "memory.jsonl": {"type": "entity", "name": "A", "entityType": "t", "observations": [f"uses {SECRET}"]},
            "ops/queue.md": BOARD + f"| rotate {SECRET} | high | — | {SECRET} |\n",
            ".pentagon/workspace/collective/flag-leo-x.md": f"**From**: leo\n**To**: rio\n**What I found**: {SECRET}\n",
            ".beads/issues.jsonl": f'{{"id":"x-1","title":"{SECRET}","status":"open","n":1}}\n{{"{SECRET}\n',
        }
    )
    assert bring(agent, place).new == {"letters": 1, "tasks": 2, "entries": 2, "notes": 1}
    assert not bring(agent, place).anything
    for path in (tmp_path / "agents").rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path


# -- what a plugin may bring ------------------------------------------------------------------------------------------


class Careless:
    """A foreign importer with whatever it likes."""

    name = "careless"
    about = "careless → everything"

    def __init__(self, **things):
        self.things = things

    def finds(self, place):
        return [ImportSource(self.name, place, "x", (), 0)]

    def read(self, source):
        found = ParsedSource()
        for kind, values in self.things.items():
            getattr(found, kind).extend(ImportItem(f"{n:016x}", value, f"x:{n}") for n, value in enumerate(values))
        return found


def test_what_no_file_of_ours_can_hold_is_named_and_the_rest_comes(agent, tmp_path):
    importer = Careless(
        tasks=[
            AgentTask("ok", description="fine", extra={"status": "clash", "n": float("nan")}),
            AgentTask("bad", description="x", status="paused"),
        ],
        messages=[Message("m1", "", "rio"), Message("m2", "leo", "clay", subject="fine", extra={"from": "forged"})],
        remarks=[Remark("Some Heading", "# not a heading\n- x")],
        lines=[{"ts": "", "event": "odd", "seq": 99, "imported": False, "source": "forged"}],
    )  # fmt: skip
    report = run_import(plan(tmp_path, "rio", registry=ImporterRegistry({"careless": importer})), agent)
    assert list(tasks(agent)) == ["ok"] and tasks(agent)["ok"].status == "pending"
    assert [letter.message.sender for letter in agent.inbox.waiting()] == ["leo"]
    assert [left.location for left in report.skipped] == ["x:1, as a task", "x:0, as a message"]
    (entry,) = journal(agent)
    assert entry["seq"] == 1 and entry["imported"] is True and entry["source"] == "careless:x:0"
    assert len(texts(agent)) == 1


def test_notes_with_fences_break_neither_the_memory_nor_the_import(agent, tmp_path):
    notes = [Remark("patterns", text) for text in ("plain", "```\nopen for ever", "a --> b", "~~~\nx\n~~~", "", " \n")]
    report = run_import(plan(tmp_path, "rio", registry=ImporterRegistry({"careless": Careless(remarks=notes)})), agent)
    assert report.new == {"notes": 4} and len(texts(agent)) == 4 and len(report.skipped) == 2
    agent.remember("questions", "still whole?")
    assert agent.memory().remarks[-1].section == "questions"


def test_a_plan_for_another_agent_is_refused(agent, legacy):
    with pytest.raises(BadInput, match="a plan for clay"):
        run_import(plan(legacy / "mcp", "clay"), agent)


def test_a_source_of_rubbish_fills_neither_memory_nor_screen(agent, build):
    report = bring(
        agent, build({"memory.jsonl": b'{"type":"entity","name":"A","entityType":"t"}\n' + b"rubbish\n" * 3000})
    )
    assert len(report.skipped) == 1000 and report.words()[-1] == "and 980 more that did not come over"
    assert report.new == {"notes": 1}


# -- the journal's lines ---------------------------------------------------------------------------------------------

ROLLOUT = ".codex/sessions/2026/03/05/rollout-2026-03-05T19-00-00-s.jsonl"


def rollout(count):
    head = '{"timestamp":"2026-03-05T19:00:00Z","type":"session_meta","payload":{"id":"s"}}\n'
    line = '{"timestamp":"2026-03-05T19:00:01Z","type":"event_msg","payload":{"type":"user_message","message":"m%d"}}\n'
    return head + "".join(line % n for n in range(count))


def test_a_rollout_that_grew_brings_only_its_new_lines(agent, build):
    place = build({ROLLOUT: rollout(3) + '{"timestamp":"2026'})
    assert bring(agent, place).new == {"entries": 4}
    build({ROLLOUT: rollout(5)})
    report = bring(agent, place)
    assert report.new == {"entries": 2} and not report.skipped
    assert [entry.get("text") for entry in journal(agent)] == [None, "m0", "m1", "m2", "m3", "m4"]


def test_lines_of_a_segment_that_was_removed_do_not_come_again(agent, build):
    place = build({ROLLOUT: rollout(1200)})
    bring(agent, place)
    agent.journal.seal()
    for segment in agent.journal.segments():
        (agent.agent_dir.path / ".paos/journal" / segment).unlink()
    assert not bring(agent, place).anything


def test_without_its_list_of_identities_the_journal_itself_is_asked(agent, build):
    place = build({ROLLOUT: rollout(20)})
    bring(agent, place)
    (agent.agent_dir.path / ".paos/imports/ids").unlink()
    assert not bring(agent, place).anything
    (agent.agent_dir.path / ".paos/imports/ids").write_bytes(b"torn\n\x00\x00\n0123")
    build({ROLLOUT: rollout(21)})
    assert bring(agent, place).new == {"entries": 1}


def test_two_imports_at_once_bring_each_thing_once(agent, build, tmp_path):
    place = build(
        {
            ROLLOUT: rollout(1500),
            ".beads/issues.jsonl": "".join(
                json.dumps({"id": f"x-{n}", "title": f"t{n}", "created_at": "2026-01-01T00:00:00Z"}) + "\n"
                for n in range(50)
            ),
        }
    )
    code = (
        "import sys\n"
        "from worldfs.plugins.importers import run_import, plan\n"
        "from worldfs.agents.agent_state import AgentState\n"
        "with AgentState.open('rio', sys.argv[1]) as state: run_import(plan(sys.argv[2], 'rio'), state)"
    )
    source = str(Path(worldfs.__file__).parents[1])
    argv = [sys.executable, "-c", code, str(tmp_path / "agents"), str(place)]
    running = [subprocess.Popen(argv, env={"PYTHONPATH": source}) for _ in range(3)]
    assert [process.wait(PATIENCE_S) for process in running] == [0, 0, 0]
    assert len(journal(agent)) == len({entry["import"] for entry in journal(agent)}) == 1501
    assert len(agent.tasks()) == 50


# -- crashes --------------------------------------------------------------------------------------------------------


def outcome(root, clock):
    """What an agent is left with, after one more import finished what was begun."""
    with AgentState.open("rio", root, clock=clock) as state:
        entries = [(entry["source"], entry["import"], entry["event"]) for entry in journal(state)]
        assert len({each[1] for each in entries}) == len(entries)
        assert [entry["seq"] for entry in journal(state)] == list(range(1, len(entries) + 1))
        letters = sorted(item.message.id for item in state.inbox.waiting())
        return sorted(entries), state.tasks(), texts(state), letters, state.metrics().lifetime


def crashes(build, clock, tmp_path, every, torn):
    """Import, die at each of so many boundaries, import again: always the same, and no line twice."""
    place = build(
        {
            "ops/queue.md": BOARD + "| a | low | — | |\n",
            "ops/sessions/1.json": {"id": "1", "ended": "2026-01-01T00:00:00Z", "status": "completed"},
            ".pentagon/workspace/collective/flag-leo-x.md": "**From**: leo\n**To**: rio\n",
            "memory.jsonl": {"type": "entity", "name": "A", "entityType": "t", "observations": ["x", "y"]},
        }
    )

    def run(root, disk=None):
        with AgentState.open("rio", root, clock=clock, disk=disk) as state:
            bring(state, place)

    def fresh(name):
        with AgentState.open("rio", tmp_path / name, create=True, clock=clock):
            return tmp_path / name

    counted = CountingDisk()
    root = fresh("whole")
    run(root, counted)
    whole = outcome(root, clock)
    assert len(whole[0]) == 1 and len(counted.seen) > 20
    for n in range(1, len(counted.seen) + 1, every):
        root = fresh(f"crash-{n}")
        with pytest.raises(SimulatedCrash):
            run(root, CrashingDisk(n, torn=torn))
        run(root)
        assert outcome(root, clock) == whole, (n, counted.seen[n - 1])


@pytest.mark.slice(2, 1)
@pytest.mark.parametrize("torn", [False, True])
def test_a_crash_at_a_write_and_an_import_afterwards_come_to_the_same(build, clock, tmp_path, torn):
    crashes(build, clock, tmp_path, 6 + torn, torn)


@pytest.mark.proof
@pytest.mark.parametrize("torn", [False, True])
def test_a_crash_at_every_write_and_an_import_afterwards_come_to_the_same(build, clock, tmp_path, torn):
    crashes(build, clock, tmp_path, 1, torn)
