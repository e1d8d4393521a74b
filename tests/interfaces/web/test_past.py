"""The past on the page: back before an action and to now again, a link to a moment, and what is never shown."""

from __future__ import annotations

import json

import pytest

from worldfs.base.model import Order


@pytest.fixture(scope="module")
def acted(page_server) -> dict[str, str]:
    """A task, and an apple that was moved: what ENVIRONMENT.md said before it and says now."""
    world = page_server.world
    before = world.namespace("operator").read("/projects/main/ENVIRONMENT.md").data.decode()
    world.namespace("planner").write("/projects/main/TASK.md", b"- [ ] one\n")
    world.namespace("planner").write("/projects/main/TASK.md", b"- [ ] one\n- [ ] <b>two</b>\n")
    order = Order(world.new_id(), "franka_001", "pick_up", {"object_id": "apple_01"})
    world.wait_job(world.submit(order))
    return {"before": before, "now": world.namespace("operator").read("/projects/main/ENVIRONMENT.md").data.decode()}


READ = "async (path) => await worldfs.world.readText(path)"


def open_past(page) -> None:
    page.evaluate("() => worldfs.show('past')")
    page.wait_for_selector(".lanes .dot")


def scrub_to(page, place: int) -> None:
    page.locator(".past-strip input").first.focus()
    page.keyboard.press("Home")
    for _ in range(place):
        page.keyboard.press("ArrowRight")


def test_back_before_an_action_and_to_now_again(page, acted) -> None:
    open_past(page)
    assert page.locator(".notice.past").count() == 0
    page.locator(".past-strip input").focus()
    for _ in range(page.evaluate("() => Number(document.querySelector('.past-strip input').max)")):
        page.keyboard.press("ArrowLeft")
        if (past := page.evaluate(READ, "/projects/main/ENVIRONMENT.md")) == acted["before"]:
            break
    assert past == acted["before"] != acted["now"]
    assert "This is the past" in page.inner_text(".notice.past")
    write = "async () => (await worldfs.world.write('/projects/main/TASK.md', 'x').catch((error) => error)).code"
    assert page.evaluate(write) == "erofs"
    page.get_by_role("button", name="Back to now").click()
    page.wait_for_selector(".notice.past", state="detached")
    assert page.evaluate(READ, "/projects/main/ENVIRONMENT.md") == acted["now"]


@pytest.mark.proof
def test_each_change_says_what_it_was(page, acted) -> None:
    open_past(page)
    labels = page.locator(".lane svg").evaluate_all("(all) => all.map((one) => one.getAttribute('aria-label'))")
    assert any("TASK.md" in label for label in labels) and any("ENVIRONMENT.md" in label for label in labels)
    page.locator(".lane", has_text="TASK.md").locator(".dot").last.dispatch_event("click")
    page.locator(".diff .added", has_text="+ - [ ] <b>two</b>").first.wait_for()  # as text
    assert page.locator(".diff b").count() == 0


@pytest.mark.proof
def test_a_link_opened_afresh_shows_the_same_moment(open_page, served_page, acted) -> None:
    page = open_page()
    open_past(page)
    scrub_to(page, 1)
    time = page.evaluate("() => worldfs.world.at.value")
    link = page.get_by_label("Link to this moment").input_value()
    assert served_page.token not in link and json.dumps(time)[1:-1].replace(":", "%3A") in link
    text = page.evaluate(READ, "/projects/main/TASK.md")
    other = open_page(fragment="&" + link.partition("#")[2])
    other.wait_for_selector(".notice.past")
    assert other.evaluate("() => worldfs.world.at.value") == time
    assert other.evaluate(READ, "/projects/main/TASK.md") == text
    other.get_by_role("tab", name="Files").or_(other.get_by_role("tab").nth(3)).first.click()
    assert "at=" in other.url  # another panel shows the same moment


@pytest.mark.proof
def test_what_history_refuses_is_said_and_a_stop_is_never_of_the_past(page, page_server, acted) -> None:
    open_past(page)
    assert "jobs, journals and messages" in page.inner_text(".past-panel")
    scrub_to(page, 0)
    page.wait_for_selector(".notice.past")
    refused = page.evaluate("async () => (await worldfs.world.read('/meta/status.json').catch((e) => e)).message")
    assert "no versions of this file are kept" in refused
    page.get_by_role("button", name="Stop all robots").click()
    page.wait_for_function("() => document.body.innerText.includes('franka_001: stopped')")
    assert page_server.world.stops.state("franka_001").stopped
    page_server.world.resume("franka_001")


@pytest.mark.proof
def test_what_a_token_may_not_see_now_it_does_not_see_in_the_past(open_page, served_page, acted) -> None:
    mine = "/agents/rio/memory.md"
    page = open_page(token=served_page.issue("leo", "user"))
    for path in (mine, f"/at/now{mine}", f"/versions{mine}"):
        code = page.evaluate("async (path) => (await worldfs.world.look(path).catch((e) => e)).code || 'seen'", path)
        assert code != "seen", path


@pytest.mark.proof
def test_a_time_that_is_typed(page, acted) -> None:
    open_past(page)
    page.get_by_label("Go to a time").fill("soon")
    page.get_by_role("button", name="Go", exact=True).click()
    page.wait_for_selector(".error")
    assert page.evaluate("() => worldfs.world.at.value") is None
    page.get_by_label("Go to a time").fill("2999-01-01T00:00:00Z")
    page.get_by_role("button", name="Go", exact=True).click()
    page.wait_for_selector(".notice.past")
    assert page.evaluate(READ, "/projects/main/ENVIRONMENT.md") == acted["now"]


@pytest.mark.proof
def test_on_a_phone(open_page, acted, tmp_path) -> None:
    page = open_page(width=390, height=844)
    open_past(page)
    scrub_to(page, 1)
    page.wait_for_selector(".notice.past")
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
