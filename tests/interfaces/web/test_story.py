"""The panels Work and Agents in a browser: an order from its reading to its evidence, stops, approvals, messages."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from worldfs.access.roles import PLANNER
from worldfs.access.tokens import TokenStore
from worldfs.agents.agent_state import AgentState
from worldfs.agents.inbox import deposit_to
from worldfs.base.clock import SystemClock
from worldfs.base.model import Job, JobState, JobStatus, Order
from worldfs.formats.agent.documents import message_read
from worldfs.interfaces.cli.main import main
from worldfs.runtime.instruction_turns import InstructionTurn
from worldfs.world import status_report
from worldfs.world.robot_liveness import RobotLiveness

ROBOT = "franka_001"
EVIL = "<img src=x onerror=alert(1)> [go](javascript:alert(1)) \u202egnp.exe"


@pytest.fixture
def panel(open_page):
    def show(name, **options):
        return open_page(fragment=f"&panel={name}", **options)  # without the picture of the first panel

    return show


def read_back(page, words):
    page.fill("input[name=do]", words)
    page.get_by_role("button", name="Read back").click()
    reading = page.locator(".reading")
    reading.wait_for()
    return reading


def test_the_table_is_cleared_from_the_page_and_nothing_moves_before_it_is_accepted(panel, served_page):
    page = panel("work")
    reading = read_back(page, "clear the table")
    assert reading.locator("ol.steps li").all_inner_texts()[:2] == ["Grasp red apple", "Place red apple in basket"]
    assert not served_page.world.jobs.open_ids() and not list(served_page.world.jobs.done_ids())
    reading.get_by_role("button", name="Accept").click()
    page.locator('[data-part=do] .chat-job[data-state="done"]').wait_for()
    ended = page.locator('[data-part=history] li[data-state="succeeded"]')
    ended.nth(1).wait_for()
    ended.first.filter(has_text="measured by").filter(has_text="in basket_01").wait_for()  # the newest: it is put there
    page.locator('[data-part=task] li[data-state="done"]').nth(1).wait_for()
    page.locator('[data-part=task] li:not([data-state="done"])').first.wait_for(state="detached")
    assert (
        page.locator("[data-part=history] a.file").first.get_attribute("href").startswith("#panel=tree&path=%2Fnodes")
    )


@pytest.mark.proof
def test_a_failed_job_says_why_and_what_was_learned_of_it(panel, served_page):
    page = panel("work")
    page.locator("[data-part=history] li").first.wait_for()
    far = Order("far_1", ROBOT, "move_to", {"target_pose": [4.5, 0.0, 0.5]})
    served_page.world.submit(far)
    job = page.locator('[data-job="far_1"][data-state="failed"]')
    job.wait_for()
    assert "4.5" in job.locator(".error").inner_text()
    assert "→ [4.5, 0, 0.5]" in job.locator("strong").inner_text()
    page.locator("[data-part=lessons]").get_by_text("Target Out of Workspace").wait_for()
    job.locator(".warn-text", has_text="choose a point inside the workspace").wait_for()


@pytest.mark.proof
def test_a_session_shows_its_trace_as_plots(panel, served_page):
    root = served_page.world.root
    (root / "artifacts/sess_1").mkdir(parents=True)
    rows = [{"step": n, "state": {"position": [n * 0.1, EVIL, 2.0]}, "note": EVIL} for n in range(40)]
    (root / "artifacts/sess_1/trace.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows) + "no JSON\n")
    (root / "SESSIONS.md").write_text(f"# Sessions\n\n{EVIL}\n\n- trace_path: artifacts/sess_1/trace.jsonl\n")
    page = panel("work")
    page.locator("[data-part=sessions]").get_by_role("button", name="sess_1").click()
    page.locator("[data-part=sessions] canvas").nth(1).wait_for()
    assert "state.position[0]: 3.9" in page.locator("[data-part=sessions] .plot").nth(1).inner_html()
    assert page.locator("[data-part=sessions] img, [data-part=sessions] a[href^=javascript]").count() == 0
    (root / "SESSIONS.md").unlink()


@pytest.mark.proof
def test_what_is_not_understood_offers_what_could_be_asked_and_no_accept(panel):
    page = panel("work")
    reading = read_back(page, "grab the unicorn")
    assert "unicorn" in reading.inner_text()
    assert reading.get_by_role("button", name="Accept").count() == 0
    reading.locator(".chips button").first.click()
    page.locator(".reading").get_by_role("button", name="Accept").wait_for()
    page.locator(".reading").get_by_role("button", name="Reject").click()
    assert page.locator(".reading").count() == 0


@pytest.mark.proof
def test_a_robot_is_stopped_and_resumed_from_its_card(panel, served_page):
    page = panel("work")
    page.get_by_role("button", name=f"Stop {ROBOT}").click()
    page.locator('.robot[data-stopped="true"]').wait_for()
    assert served_page.world.stops.state(ROBOT).stopped
    page.get_by_role("button", name=f"Resume {ROBOT}").click()
    page.locator('.robot[data-stopped="false"]').wait_for()
    assert not served_page.world.stops.state(ROBOT).stopped


def test_a_message_is_sent_and_its_acknowledgement_seen_and_hostile_text_stays_text(panel, served_page):
    agents = served_page.world.agents.root
    assert main(["--home", str(served_page.home), "agent", "init", "rio"]) == 0
    with AgentState.open("rio", root=agents) as rio:
        hostile = {"to": "rio", "from": "x", "subject": EVIL, "body": EVIL * 50}
        deposit_to(agents, "rio", message_read(json.dumps(hostile).encode()))
        page = panel("agents")
        page.get_by_role("button", name="rio", exact=True).click()
        letter = page.locator(".letter").first
        letter.wait_for()
        assert "<img src=x" in letter.inner_text() and "‹U+202E›" in letter.inner_text()
        assert page.locator(".letter img, .letter a[href^=javascript]").count() == 0
        page.fill("input[name=subject]", "Hello")
        page.fill("textarea[name=body]", "How are you?")
        page.locator("[data-part=inbox]").get_by_role("button", name="Send").click()
        page.locator('.sent[data-acknowledged="false"]').wait_for()
        for summary in ("answered", EVIL):
            rio.start(type="research")  # claims what waits
            rio.finish("completed", summary=summary)
        page.locator('.sent[data-acknowledged="true"]').wait_for()
        page.locator("[data-part=journal] li.event", has_text="session_end").nth(1).wait_for()
        page.locator("[data-part=metrics] canvas").first.wait_for()
        assert page.locator("[data-part=journal] img, [data-part=report] img").count() == 0


def test_a_chat_is_answered(panel):
    page = panel("agents")
    page.fill("textarea[name=message]", "where is the apple?")
    page.locator("[data-part=chat]").get_by_role("button", name="Send").click()
    turn = page.locator(".turn", has_text="where is the apple?").last
    turn.locator('[data-state="done"]').wait_for()
    turn.get_by_text("red apple").first.wait_for()


@pytest.fixture
def turn(served_page):
    """An instruction is executed: the kernel keeps what it asks."""
    world = served_page.world
    turn = InstructionTurn(world.store, ROBOT, "a plan", SystemClock())
    assert turn.try_acquire() is None
    yield turn
    turn.release()


def test_a_robot_that_is_lost_is_shown_with_what_it_was_doing_not_as_at_work(panel, served_page, turn, monkeypatch):
    """As a hub sees it whose robot's host is cut off (the files of one: tests/world/test_two_hosts.py)."""
    turn.set_job("lost_1")
    job = Job(Order("lost_1", ROBOT, "move_to", {}), JobStatus(JobState.RUNNING, 1))
    alive = RobotLiveness(False, True, datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC))
    monkeypatch.setattr(status_report, "robot_liveness", lambda world, robot: alive)
    monkeypatch.setattr(status_report, "open_jobs", lambda world: [job])
    page = panel("work")
    robot = page.locator("[data-part=robots] li.robot")
    robot.wait_for()
    text = robot.inner_text()
    assert "lost, last seen 04/03/2026" in text and "was at work on: a plan" in text, text
    row = page.locator('[data-part=queue] li[data-job="lost_1"]')
    row.wait_for()
    assert "running when its robot was lost" in row.inner_text()


def ask(world, orderer):
    step = Order("", ROBOT, "move_to", {"target_pose": [0.45, 0.0, 0.5]})
    return world.approvals.ask(ROBOT, [step], PLANNER, f"move for {orderer} {EVIL}", orderer=orderer).plan


def test_an_order_of_ones_own_is_approved_by_a_held_button_and_another_by_a_press(panel, served_page, turn):
    page = panel("work")
    page.locator("[data-part=approvals]").get_by_text("Nothing waits").wait_for()
    orderers = ("operator/mother/operator", "agent/rio", "agent/theseus")
    own, other, third = (ask(served_page.world, by) for by in orderers)
    request = page.locator(f'[data-plan="{own}"]')
    request.wait_for()
    assert "<img src=x" in request.inner_text() and request.locator("img").count() == 0
    assert request.get_by_role("button", name="Approve", exact=True).count() == 0
    hold = request.get_by_role("button", name="Hold to approve")
    hold.click()
    assert served_page.world.approvals.load(own).answer is None
    for tab in ("Agents", "Tree", "Work"):  # another tab says what waits
        page.get_by_role("tab", name=tab).click()
        page.get_by_role("tab", name="3 waiting for approval").wait_for()
    hold.focus()
    page.keyboard.down(" ")
    page.locator(f'[data-plan="{own}"][data-answer="approved"]').wait_for()
    page.keyboard.up(" ")
    answer = served_page.world.approvals.load(own).answer
    assert (answer.by, answer.confirmed) == ("operator", True)
    page.locator(f'[data-plan="{other}"]').get_by_role("button", name="Approve").click()
    page.locator(f'[data-plan="{other}"][data-answer="approved"]').wait_for()
    assert served_page.world.approvals.load(other).answer.answer == "approved"
    page.locator(f'[data-plan="{third}"]').get_by_role("button", name="Refuse").click()
    page.locator(f'[data-plan="{third}"][data-answer="refused"]').wait_for()
    assert served_page.world.approvals.load(third).answer.answer == "refused"


def test_where_there_is_another_person_the_page_says_whose_approval_an_own_order_waits_for(panel, served_page, turn):
    TokenStore.open(served_page.home).add("mother", "admin", person="ada")
    page = panel("work")
    plan = ask(served_page.world, "operator/mother/operator")
    request = page.locator(f'[data-plan="{plan}"]')
    request.get_by_text("waits for the approval of ada").wait_for()
    assert [one.inner_text() for one in request.get_by_role("button").all()] == ["Refuse"]
    TokenStore.open(served_page.home).revoke("ada")


@pytest.fixture
def past_job(served_page):
    """An order before this test's own, whichever of the tests a worker runs first."""
    served_page.world.submit(Order("past_1", ROBOT, "move_to", {"target_pose": [9.0, 0.0, 0.5]}))


def test_one_who_may_not_approve_is_offered_stop_and_no_answer(panel, served_page, past_job, turn):
    page = panel("work", token=served_page.issue("rio", "user"))
    page.get_by_role("button", name=f"Stop {ROBOT}").wait_for()
    page.locator("[data-part=history] li").first.wait_for()
    plan = ask(served_page.world, "agent/theseus")
    page.locator(f'[data-plan="{plan}"]').wait_for()
    assert page.get_by_role("button", name="Approve").count() == 0


@pytest.mark.proof
def test_a_lesson_of_megabytes_and_of_bytes_that_are_no_text_is_shown_from_its_end(panel, served_page):
    path = served_page.world.root / "LESSONS.md"
    path.write_bytes(
        b"# LESSONS\n\n" + b"x" * 3_000_000 + b"\n\n## " + EVIL.encode() + b"\xff\xfe <script>alert(1)</script>\n"
    )
    page = panel("work")
    lessons = page.locator("[data-part=lessons]")
    lessons.get_by_text("<script>alert(1)</script>").wait_for()
    assert lessons.locator("script, img, a[href^=javascript]").count() == 0
    assert len(lessons.inner_text()) < 25_000
    path.write_text("# LESSONS\n")


@pytest.mark.slice(2)
@pytest.mark.parametrize("newest_first", [True, False])
def test_the_newest_lessons_are_shown_whichever_way_round_the_file_is(panel, served_page, newest_first):
    path = served_page.world.root / "LESSONS.md"
    entries = [
        f"## 2026-11-{1 + number // 24:02} {number % 24:02}:00:00 — lesson {number} ends\n- **Fix**: {'look ' * 20}\n\n"
        for number in range(500)
    ]
    path.write_text("# LESSONS\n\n" + "".join(reversed(entries) if newest_first else entries))
    lessons = panel("work").locator("[data-part=lessons]")
    lessons.get_by_text("lesson 499 ends").wait_for()
    assert lessons.get_by_text("lesson 480 ends").count() == 1 and lessons.get_by_text("lesson 10 ends").count() == 0
    path.write_text("# LESSONS\n")


@pytest.mark.proof
def test_chinese_dark_and_a_phone_fit(panel):
    page = panel("work", width=390, height=844, color_scheme="dark")
    page.locator("[data-part=queue]").wait_for()
    page.select_option("select[aria-label=Language]", "zh")
    page.get_by_role("heading", name="队列").wait_for()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
