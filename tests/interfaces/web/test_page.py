"""The page in a real Chromium: signing in, the tree, an edit with a conflict, hostile content, a lost server."""

import pytest

from worldfs.access.tokens import TokenStore
from worldfs.base.model import Order
from worldfs.testing.waiting import until

from .conftest import SERVER_AWAY

TABS = ["World", "Work", "Agents", "Tree", "Past"]


def state(page, wanted):
    page.wait_for_function(f"() => worldfs.world.state.value === '{wanted}'")


def show(page, path):
    page.evaluate("path => { worldfs.show('tree'); location.hash = new URLSearchParams({panel: 'tree', path}); }", path)
    page.wait_for_function("path => document.querySelector('.tree-file h2')?.textContent === path", arg=path)


def put(served, name, data):
    """A file that the page reads, as a program beside it writes it."""
    place = served.home / "workspace/artifacts" / name
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(data)


def test_first_look(page, served_page):
    assert [tab.inner_text() for tab in page.get_by_role("tab").all()] == TABS
    assert "token" not in page.url and page.evaluate("() => sessionStorage.length") == 1
    assert page.get_by_role("button", name="Stop all robots").is_visible()
    assert page.evaluate("() => worldfs.world.may.value.role") == "admin"
    for name in TABS:
        page.get_by_role("tab", name=name).click()
        assert page.get_by_role("tabpanel").get_attribute("aria-labelledby") == f"tab-{name.lower()}"
        assert page.locator("[role=alert]").count() == 0
    page.get_by_label("Language").select_option("zh")
    assert page.get_by_role("tab", name="目录树").is_visible()
    page.get_by_label("语言").select_option("en")


def test_a_script_that_gets_in_is_not_run(open_page):
    """The second line of defence: the policy of the page, were a text ever taken for HTML."""
    page = open_page()
    page.watch.allowed = ("Content Security Policy", "Failed to load resource")  # no such picture
    page.evaluate(
        """() => {
            const inline = document.createElement("script");
            inline.textContent = "globalThis.hit = 1";
            document.body.append(inline);
            document.body.insertAdjacentHTML("beforeend", "<img src=x onerror='globalThis.hit = 1'>");
        }"""
    )
    assert page.evaluate("() => fetch('http://127.0.0.1:9/').catch(() => 'refused')") == "refused"
    page.wait_for_function("() => document.querySelector('img').complete")
    assert page.evaluate("() => globalThis.hit") is None


def test_every_control_has_a_name_and_the_keyboard_reaches_the_tabs(page):
    page.get_by_role("tab", name="Tree").click()
    page.locator("[data-row]").first.wait_for()
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('button, input, select, textarea, a')]
            .filter((one) => !(one.getAttribute('aria-label') || one.textContent.trim() || one.labels?.length))
            .map((one) => one.outerHTML)"""
    )
    assert nameless == []
    page.get_by_role("tab", name="Tree").press("ArrowLeft")
    assert page.get_by_role("tab", name="Agents").get_attribute("aria-selected") == "true"


@pytest.mark.proof
def test_the_tree_says_who_may_write_and_why_not(page):
    show(page, "/projects/main/ENVIRONMENT.md")
    rights = page.locator(".rights")
    rights.filter(has_text="You may not write this file: operator may not write it").wait_for()
    assert "watchdog" in rights.inner_text()
    page.locator(".content").filter(has_text="scene_graph").first.wait_for()


def test_a_file_on_the_screen_follows_its_changes(page, served_page):
    served_page.world.namespace("planner").write("/projects/main/TASK.md", b"# Task\n\nfirst words\n")
    show(page, "/projects/main/TASK.md")
    page.locator(".content").filter(has_text="first words").wait_for()
    served_page.world.namespace("planner").write("/projects/main/TASK.md", b"# Task\n\nsecond words\n")
    page.locator(".content").filter(has_text="second words").wait_for()


def test_two_people_edit_one_file(open_page, served_page):
    """Neither loses a word unseen: the second is shown both texts, and chooses."""
    path = "/projects/main/TASK.md"
    tree = served_page.world.namespace("planner")
    tree.write(path, b"# Task\n\nold\n")
    page = open_page(token=served_page.issue("viewer", "user"))
    show(page, path)
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Text of the file").fill("# Task\n\nmine\n")
    tree.write(path, b"# Task\n\ntheirs\n")
    page.get_by_role("button", name="Save").click()
    conflict = page.get_by_role("alertdialog", name="Conflict")
    conflict.wait_for()
    assert "mine" in conflict.inner_text() and "theirs" in conflict.inner_text()
    assert tree.read(path).data == b"# Task\n\ntheirs\n", "nothing is written before a choice"
    page.get_by_role("button", name="Keep mine").click()
    page.get_by_text("Saved.").wait_for()
    assert tree.read(path).data == b"# Task\n\nmine\n"
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Text of the file").fill("# Task\n\nagain\n")
    tree.write(path, b"# Task\n\nothers\n")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Take theirs").click()
    box = page.get_by_label("Text of the file")
    assert box.input_value() == "# Task\n\nothers\n"
    box.fill("# Task\n\nothers, and mine\n")
    tree.write(path, b"# Task\n\na third\n")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Merge by hand").click()
    assert "a third" in page.get_by_label("Theirs, stored now").inner_text()
    box.fill("# Task\n\na third, others, and mine\n")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved.").wait_for()
    assert tree.read(path).data == b"# Task\n\na third, others, and mine\n"


@pytest.mark.proof
def test_a_computed_file_is_compared_by_its_text(page, served_page):
    """It has no revision, so the page looks again before it writes."""
    path = "/nodes/franka_001/ACTION.md"
    show(page, path)
    page.get_by_role("button", name="Edit").click()
    box = page.get_by_label("Text of the file")
    box.fill("# ACTION, written by hand\n")
    world = served_page.world
    world.submit(Order(world.new_id(), "franka_001", "pick_up", {"object_id": "nothing_there"}))
    page.get_by_role("button", name="Save").click()
    page.get_by_role("alertdialog", name="Conflict").wait_for()
    page.get_by_role("button", name="Cancel").click()


@pytest.mark.proof
def test_a_file_that_takes_orders_and_one_whose_read_waits(page, served_page):
    show(page, "/nodes/franka_001/stop")
    page.get_by_text("takes orders: each write is one").wait_for()
    page.get_by_role("button", name="Write an order").click()
    page.get_by_label("Text of the file").fill("{}")
    page.get_by_role("button", name="Send").click()
    until(lambda: served_page.world.stops.state("franka_001").stopped)
    served_page.world.resume("franka_001", "operator")
    show(page, "/projects/main/scene/poses")
    page.get_by_role("button", name="Read it, and go on reading").click()
    page.locator(".content").filter(has_text="00000000").wait_for()
    show(page, "/agents/self/events/next.json")  # an event is told once
    page.get_by_text("This page waits here for its own events").wait_for()


HOSTILE = b'<img src=x onerror="globalThis.hit=1"><script>globalThis.hit=1</script>\n\xe2\x80\xaegnp.exe ${7*7}\n'


def test_hostile_names_and_contents_are_only_text(page, served_page):
    name = "<img src=x onerror='globalThis.hit=1'>\u202egnp.txt"
    put(served_page, name, HOSTILE)
    page.evaluate(
        "path => { location.hash = new URLSearchParams({panel: 'tree', path}); }", f"/projects/main/artifacts/{name}"
    )
    page.locator(".content").filter(has_text="<script>").wait_for()
    assert "‹U+202E›" in page.locator(".content").first.inner_text(), "what turns the direction is shown by its number"
    assert "‹U+202E›" in page.locator(".tree-file h2").inner_text()
    assert page.evaluate("() => globalThis.hit") is None
    assert page.locator(".tree-panel img").count() == 0


def test_hostile_documents_are_only_text_in_every_panel(page, served_page):
    task = HOSTILE + b"- [ ] <svg onload=globalThis.hit=1> [x](javascript:globalThis.hit=1)\n" * 3
    served_page.world.namespace("planner").write("/projects/main/TASK.md", task)
    for name in TABS:
        page.get_by_role("tab", name=name).click()
        page.wait_for_load_state("networkidle")
    show(page, "/projects/main")
    assert page.evaluate("() => globalThis.hit") is None
    assert page.locator("main img, main script, a[href^='javascript']").count() == 0


@pytest.mark.proof
@pytest.mark.parametrize(
    ("name", "data", "shown"),
    [
        ("wrong.txt", b"\xff\xfe\x00abc" * 100, "ff fe 00 61"),
        ("large.txt", b"0123456789abcdef " * 620_000, "are not shown"),
        ("broken.json", b'{"a": [1, 2', "Not valid JSON"),
    ],
)
def test_odd_files_are_shown_and_nothing_hangs(page, served_page, name, data, shown):
    put(served_page, name, data)
    show(page, f"/projects/main/artifacts/{name}")
    page.locator(".tree-file").filter(has_text=shown).wait_for()


@pytest.mark.proof
def test_a_directory_of_many_names(page, served_page):
    place = served_page.home / "workspace/artifacts/many"
    place.mkdir(parents=True, exist_ok=True)
    for number in range(1_500):
        (place / f"n{number:05}").touch()
    show(page, "/projects/main/artifacts/many/n00001")
    page.locator("[data-row='/projects/main/artifacts/many/n00001']").wait_for()
    assert page.locator("[data-row^='/projects/main/artifacts/many/n']").count() <= 200
    page.get_by_role("button", name="1300 more").wait_for()


@pytest.mark.proof
def test_a_wrong_token_is_refused_and_asked_for_again(open_page, served_page):
    page = open_page(token="sw-admin_nothing")
    state(page, "refused")
    page.get_by_text("The server refused this token").wait_for()
    page.get_by_label("Token").fill(served_page.token)
    page.get_by_role("button", name="Sign in").click()
    state(page, "open")


@pytest.mark.proof
def test_without_a_token_the_page_asks_for_one(open_page):
    page = open_page(token="")
    assert page.get_by_label("Token").is_visible()


def test_a_token_that_ends_while_watching(open_page, served_page):
    """What is on the screen stays, marked as old; a fresh token goes on with it."""
    page = open_page(token=served_page.issue())
    show(page, "/projects/main/ENVIRONMENT.md")
    page.locator(".content").first.wait_for()
    tokens = TokenStore.open(served_page.home)
    tokens.revoke(tokens.agent_tokens()[-1].id)
    served_page.realm.feed.publish("/nodes")  # the server looks at its tokens
    state(page, "refused")
    page.get_by_text("The token is no longer valid").wait_for()
    assert page.locator(".content").first.is_visible() and page.locator(".panel.stale").count() == 1
    page.get_by_label("Token").fill(served_page.issue())
    page.get_by_role("button", name="Sign in").click()
    state(page, "open")
    assert page.locator(".panel.stale").count() == 0


@pytest.mark.proof
def test_a_phone(open_page):
    page = open_page(width=390, height=844, has_touch=True, is_mobile=True)
    for name in TABS:
        page.get_by_role("tab", name=name).tap()
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    assert page.get_by_role("button", name="Stop all robots").is_visible()


def test_stop_from_the_page(page, served_page):
    page.get_by_role("button", name="Stop all robots").click()
    page.get_by_text("franka_001: stopped; its driver confirms that it stands").wait_for()
    until(lambda: served_page.world.stops.state("franka_001").stopped)
    served_page.world.resume("franka_001", "operator")


@pytest.mark.proof
def test_a_tab_asleep_while_the_server_restarts(open_page, page_server):
    """It runs nothing while it sleeps; awake, it finds its connection gone, and catches up."""
    page = open_page(page_server.page)
    page.watch.allowed = SERVER_AWAY
    write = page_server.world.namespace("planner").write
    write("/projects/main/TASK.md", b"# Task\n\nbefore its sleep\n")
    show(page, "/projects/main/TASK.md")
    page.locator(".content").filter(has_text="before its sleep").wait_for()
    browser = page.context.new_cdp_session(page)
    browser.send("Page.setWebLifecycleState", {"state": "frozen"})
    page_server.end()
    write("/projects/main/TASK.md", b"# Task\n\nwritten while it slept\n")
    page_server.begin()
    browser.send("Page.setWebLifecycleState", {"state": "active"})
    page.locator(".content").filter(has_text="written while it slept").wait_for()
    write("/projects/main/TASK.md", b"# Task\n\nand after\n")
    page.locator(".content").filter(has_text="and after").wait_for()


@pytest.mark.proof
def test_a_server_that_restarts(open_page, page_server):
    """Last: the page reconnects by itself, reads again what it shows, and follows it."""
    page = open_page(page_server.page)
    page.watch.allowed = SERVER_AWAY
    show(page, "/projects/main/TASK.md")
    page.locator(".content").first.wait_for()
    page_server.end()
    page.wait_for_function("() => worldfs.world.state.value === 'lost'")
    page_server.world.namespace("planner").write("/projects/main/TASK.md", b"# Task\n\nwritten meanwhile\n")
    page_server.begin()
    state(page, "open")
    page.locator(".content").filter(has_text="written meanwhile").wait_for()
    page_server.world.namespace("planner").write("/projects/main/TASK.md", b"# Task\n\nand after\n")
    page.locator(".content").filter(has_text="and after").wait_for()
