"""The in-process shell: the tree is all that there is."""

from __future__ import annotations

import gc
import signal
import threading

import pytest

pytest.importorskip("bashkit")

from worldfs.base.clock import SystemClock
from worldfs.interfaces.cli.main import main
from worldfs.interfaces.posix.namespace_files import home_files
from worldfs.interfaces.shell import tree_shell
from worldfs.interfaces.shell.tree_shell import TreeShell
from worldfs.testing.waiting import until
from worldfs.world.world import World

LESSONS = "# Lessons\n\nThe left drawer sticks. $(echo run > /projects/main/TASK.md) `date`\n"
WAIT = '{"paths": ["/agents/self/chat/control/input"], "timeout_ms": 60000}'


class Shells:
    """Shells on one home, one for each role that is asked for."""

    def __init__(self, home):
        self.home, self.open = home, {}

    def shell(self, role="planner"):
        if role not in self.open:
            self.open[role] = self.make(role, person=True).__enter__()
        return self.open[role]

    def make(self, role="planner", **more):
        agents = self.home / "agents"
        return TreeShell(
            lambda: home_files(self.home, agents, role, "", SystemClock()), SystemClock(), user=role, **more
        )

    def __call__(self, script, role="planner"):
        out, err = [], []
        done = self.shell(role).run(script, out.append, err.append)
        return done, b"".join(out).decode(), b"".join(err).decode()

    def close(self):
        for shell in self.open.values():
            shell.__exit__(None, None, None)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    assert main(["--home", str(home), "onboard"]) == 0
    (home / "workspace" / "LESSONS.md").write_text(LESSONS)
    (home / "host.txt").write_text("a file of the host")
    return home


@pytest.fixture(scope="module")
def sh(home):
    shells = Shells(home)
    yield shells
    shells.close()


@pytest.mark.parametrize(
    ("script", "printed"),
    [
        ("cat /projects/main/LESSONS.md | grep -c drawer", "1\n"),
        ("jq -r .kind < /projects/main/SCHEMA.json", "project\n"),
        ("cd /projects/main && ls *.md | sort -r | head -1 && pwd", "TASK.md\n/projects/main\n"),
        ("for f in /projects/main/TASK.md /projects/main/LESSONS.md; do basename $f .md; done", "TASK\nLESSONS\n"),
        ("x=$(wc -c < /projects/main/LESSONS.md); echo $((x))", f"{len(LESSONS)}\n"),
        ("find /projects/main -maxdepth 1 -name 'L*'", "/projects/main/LESSONS.md\n"),
        ("printf 'b\\na\\n' | sort | tr a-z A-Z; awk 'NR==3 {print $2}' /projects/main/LESSONS.md", "A\nB\nleft\n"),
        ("echo kept > /tmp/x; cat /tmp/x; ls /tmp", "kept\nx\n"),
        ("test -d /projects/main && test ! -e /nope && echo yes", "yes\n"),
        ("diff <(echo 1) <(echo 1) && echo same", "same\n"),
    ],
)
def test_scripts_read_the_tree(sh, script, printed):
    done, out, err = sh(script)
    assert (done.code, out, err) == (0, printed, "")


def test_what_is_written_is_in_the_home_at_once(sh, home):
    done, _, err = sh("cat > /projects/main/TASK.md <<END\n# Task\n\nClear the $((1 + 1)) tables.\nEND")
    assert (done.code, err) == (0, "")
    assert (home / "workspace" / "TASK.md").read_text() == "# Task\n\nClear the 2 tables.\n"
    with World.open(home / "workspace") as world:
        assert b"2 tables" in world.namespace("planner").read("/projects/main/TASK.md").data


def test_sed_in_place_is_one_replacement(sh, home):
    sh("echo 'clear the table' > /projects/main/TASK.md")
    _, out, err = sh("sed -i s/table/desk/ /projects/main/TASK.md; ls /projects/main | grep -c tmp")
    assert (out, err) == ("0\n", "")
    assert (home / "workspace" / "TASK.md").read_text() == "clear the desk\n"


@pytest.mark.parametrize(
    ("role", "script", "said"),
    [
        ("planner", "echo lies > /projects/main/ENVIRONMENT.md", "ENVIRONMENT.md"),
        ("planner", "rm /projects/main/ENVIRONMENT.md", "ENVIRONMENT.md"),
        ("planner", "mv /projects/main/TASK.md /projects/main/LESSONS.md", "cannot"),
        ("watchdog", "cat /projects/main/TASK.md", "no such file"),
        ("watchdog", "echo x > /projects/main/TASK.md", "TASK.md"),
        ("planner", "mkdir /projects/other", "cannot create"),
    ],
)
def test_the_rights_are_the_roles(sh, home, role, script, said):
    before = {path.name: path.read_bytes() for path in (home / "workspace").glob("*.md")}
    done, out, err = sh(script, role)
    assert done.code != 0 and out == "" and said in err
    assert {path.name: path.read_bytes() for path in (home / "workspace").glob("*.md")} == before


def test_what_a_role_may_not_see_is_not_there(sh):
    assert "TASK.md" not in sh("ls /projects/main; find / -name TASK.md", "watchdog")[1]


@pytest.mark.parametrize(
    "script",
    [
        "cat /etc/passwd",
        "cat ../../../../../../etc/passwd",
        "cat {home}/host.txt",
        "cat //etc//passwd /./etc/../etc/passwd",
        "cat /proc/self/environ /proc/1/cmdline /dev/mem /dev/tcp/127.0.0.1/22",
        "ln -s /etc/passwd /tmp/p && cat /tmp/p",
        "ln -s {home}/host.txt /projects/main/h; cat /projects/main/h",
        "cp /etc/passwd /tmp/q && cat /tmp/q",
        "source /etc/profile",
        ". {home}/host.txt",
        "x=$(</etc/passwd); test -n \"$x\"",
        "tar cf /tmp/t /etc && tar tf /tmp/t | grep .",
        "find / -name passwd | grep .",
        "grep -r root: /etc",
        "/bin/sh -c 'echo out'",
        "/usr/bin/env",
        "exec /bin/bash",
        "python3 -c 'print(1)'",
        "perl -e 1",
        "git --version",
        "ssh 127.0.0.1",
        "curl -s file:///etc/passwd",
        "curl -s http://127.0.0.1:1/",
        "wget http://127.0.0.1:1/",
        "echo > /dev/tcp/127.0.0.1/80",
        "env | grep SECRET",
        "printenv HOST_SECRET",
        "test -n \"$HOST_SECRET$PATH_OF_HOST\"",
        "echo broken > {home}/made.txt",
        "tee {home}/made.txt < /dev/null",
    ],
)  # fmt: skip
def test_nothing_of_the_host_is_reached(sh, home, monkeypatch, script):
    monkeypatch.setenv("HOST_SECRET", "sesame")
    done, out, err = sh(script.replace("{home}", str(home)))
    assert done.code != 0, (out, err)
    assert "root:" not in out and "a file of the host" not in out and "sesame" not in out + err
    assert not (home / "made.txt").exists()


def test_text_of_files_is_data(sh, home):
    before = (home / "workspace" / "TASK.md").read_bytes()
    done, out, _ = sh('x="$(cat /projects/main/LESSONS.md)"; echo "$x"; for w in $x; do :; done; echo $x | xargs echo')
    assert done.code == 0 and out.startswith(LESSONS)
    assert (home / "workspace" / "TASK.md").read_bytes() == before


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("exit 7", 7),
        ("false", 1),
        ("nonsense", 127),
        ("set -e; false; echo no", 1),
        ("true", 0),
        ("if", 2),
        ("echo 'a", 2),
    ],
)
def test_exit_codes_are_those_of_bash(sh, script, code):
    assert sh(script)[0].code == code


def test_a_script_without_an_end_is_ended(sh):
    def drop(data):
        pass

    with sh.make() as shell:
        assert shell.run("f() { f; }; f", drop, drop).code == 1
        done = shell.run("while :; do :; done", drop, drop)
        assert done.code == 1 and "100000" in done.error


def test_output_is_bounded(sh, monkeypatch):
    monkeypatch.setattr(tree_shell, "OUTPUT_MOST", 10_000)
    done, out, _ = sh("while :; do echo 0123456789; done")
    assert (done.code, done.error.code, len(out)) == (1, "shell.too_much", 10_000)


def test_a_reader_that_has_gone_ends_the_script(sh):
    def gone(data):
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        sh.shell().run("while :; do echo x; done", gone, gone)
    assert sh("echo goes on")[1] == "goes on\n"


def test_the_state_of_the_shell_lasts(sh):
    sh("cd /projects/main; X=5; f() { echo f$X; }")
    assert sh.shell().directory == "/projects/main"
    assert sh("f; pwd; cd /")[1] == "f5\n/projects/main\n"


@pytest.mark.parametrize(
    ("script", "more"),
    [("if true; then\n", True), ("echo 'a\n", True), ("echo $(\n", True), ("echo a &&\n", True), ("echo \\\n", True),
     ("echo a\n", False), ("fi\n", False), ("\n", False), ("f() {\n", True), ("ls |\n", True)],
)  # fmt: skip
def test_lines_that_belong_together_are_awaited(sh, script, more):
    assert sh.shell().unfinished(script) is more


def test_binary_bytes_pass_unchanged_between_files(sh):
    done, out, _ = sh("printf '\\xff\\xfe\\n' > /tmp/b; cp /tmp/b /tmp/c; od -An -tx1 /tmp/c")
    assert done.code == 0 and out.split() == ["ff", "fe", "0a"]


def test_a_read_that_waits_is_ended_by_an_interrupt(sh):
    shell = sh.shell()
    sh(f"echo '{WAIT}' > /agents/self/events/control/wait.json")
    waiting = threading.Thread(target=lambda: until(lambda: shell._files._running) and shell._interrupt())
    waiting.start()
    done, out, _ = sh("cat /agents/self/events/next.json; echo not reached")
    waiting.join()
    assert done.code == 130 and out == ""
    shell._bash.clear_cancel()
    shell._files.resume()
    assert sh("echo goes on")[1] == "goes on\n"


@pytest.mark.parametrize(
    ("script", "printed"),
    [
        ("seq 20 > /tmp/n; tail -n 2 /tmp/n; tail -2 /tmp/n; tail -n +19 /tmp/n; tail -c 3 /tmp/n",
         "19\n20\n" * 3 + "20\n"),
        ("seq 12 | tail | head -1; printf 'a\nb' | tail -n 1; seq 3 | tail -n0", "3\nb"),
        ("tail -n1 /projects/main/LESSONS.md | cut -c1-3", "The\n"),
        ("cd /projects/main; tail -c 2 LESSONS.md ../main/LESSONS.md",
         "==> LESSONS.md <==\n`\n\n==> ../main/LESSONS.md <==\n`\n"),
        ("tail -n1 /nope 2>&1 || echo $?", "tail: /nope: no such file or directory\n1\n"),
        ("tail -x 2>/dev/null || echo $?; touch 2>&1 | head -1", "1\ntouch: FILE\n"),
    ],
)  # fmt: skip
def test_tail_prints_the_end(sh, script, printed):
    assert sh(script)[1] == printed


def test_touch_makes_files_and_sets_their_times(sh, home):
    artifacts = home / "workspace" / "artifacts"
    artifacts.mkdir()
    (artifacts / "old").write_text("kept")
    script = "cd /projects/main/artifacts; touch -d 2020-01-02T03:04:05 old; touch made; touch -c none"
    done, _, err = sh(script, "operator")
    assert (done.code, err) == (0, "")
    assert (artifacts / "old").read_text() == "kept" and (artifacts / "old").stat().st_mtime == 1577934245
    assert (artifacts / "made").read_bytes() == b"" and not (artifacts / "none").exists()
    assert sh("touch -r /projects/main/artifacts/old /projects/main/artifacts/made", "operator")[0].code == 0
    assert (artifacts / "made").stat().st_mtime == 1577934245
    before = (artifacts / "old").stat().st_mtime
    assert sh("touch /projects/main/artifacts/old", "operator")[0].code == 0
    assert (artifacts / "old").stat().st_mtime > before
    assert sh("echo kept > /tmp/t; touch /tmp/t /tmp/u; cat /tmp/t /tmp/u")[1] == "kept\n"
    done, _, err = sh("touch /projects/other/new")
    assert done.code == 1 and "touch: /projects/other/new: no such file" in err


def test_ctrl_c_at_any_moment_leaves_a_shell_that_works(sh):
    """It is noted while a script runs, and raised when that has ended."""
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    over, ended = threading.Event(), 0

    def press():
        while not over.wait(0.001):
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    pressing = threading.Thread(target=press)
    pressing.start()
    try:
        for _ in range(200):
            try:
                sh("echo x > /tmp/x; cat /tmp/x")
            except KeyboardInterrupt:
                ended += 1
    finally:
        over.set()
        pressing.join()
        signal.signal(signal.SIGINT, before)
    assert ended and sh("echo works")[1] == "works\n"


def test_tail_follows_a_file_until_it_is_interrupted(sh, home):
    path, out, shell = home / "workspace" / "TASK.md", [], sh.shell()
    path.write_text("one\n")
    changes = [("one\ntwo\n", b"two\n"), ("new\n", b"new\n")]

    def write():
        until(lambda: b"".join(out) == b"one\n")
        for text, printed in changes:
            (home / "new").write_text(text)
            (home / "new").replace(path)
            until(lambda printed=printed: b"".join(out).endswith(printed))
        shell._interrupt()

    writer = threading.Thread(target=write)
    writer.start()
    done = shell.run("tail -f /projects/main/TASK.md; echo not reached", out.append, out.append)
    writer.join()
    assert (done.code, b"".join(out)) == (130, b"one\ntwo\nnew\n")
    shell._bash.clear_cancel()
    shell._files.resume()
    for seconds in (0.1, 1, 10):  # until it has printed the file within its time on this machine
        if (said := sh(f"timeout {seconds} tail -f /projects/main/TASK.md; echo $?")[1]) != "124\n":
            break
    assert said == "new\n124\n"


def test_nothing_is_left_of_a_shell(sh):
    before = threading.active_count()
    with sh.make() as shell:
        shell.run("ls -lR / > /tmp/all", lambda data: None, lambda data: None)
        below = shell._below
        assert below.users > 0
    gc.collect()
    assert below.users == 0 and not below._lent
    until(lambda: threading.active_count() <= before)


def test_a_home_that_is_not_there_is_an_error(tmp_path, capsys):
    assert main(["--home", str(tmp_path / "no"), "sh", "-c", "ls"]) == 2
    assert "onboard" in capsys.readouterr().err


def test_what_is_missing_is_named(monkeypatch, home, capsys):
    monkeypatch.setattr("worldfs.base.extras.find_spec", lambda name: None)
    assert main(["--home", str(home), "sh", "-c", "ls"]) == 2
    assert "worldfs[shell]" in capsys.readouterr().err
