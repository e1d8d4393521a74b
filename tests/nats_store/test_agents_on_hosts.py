"""Agents of two hosts in one bucket: two roots of agents on one server stand for the hosts."""

import json
import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from worldfs.agents.agent_state import AgentState
from worldfs.agents.inbox import deposit_to
from worldfs.base.durable import Disk
from worldfs.base.errors import Busy, Conflict, NotFound, StorageError
from worldfs.base.model import Message
from worldfs.plugins.nats_store.nats_store import NatsStore
from worldfs.plugins.nats_store.own_server import OwnServer
from worldfs.plugins.nats_store.store_address import StoreAddress
from worldfs.supervisor import CommandRequest, run
from worldfs.testing.waiting import PATIENCE_S, until

PAOS = (sys.executable, "-m", "worldfs.interfaces.cli.main")


class Host:
    """A home of its own; its agents are kept on the server."""

    def __init__(self, path, address):
        self.root = path / "agents"
        if address is not None:
            url = f"nats://{address.token}@{address.servers.partition('//')[2]}/{address.bucket}"
            (self.root / ".paos").mkdir(parents=True)
            record = json.dumps({"store": f"{url}?ttl={address.ttl_s:.0f}"})
            (self.root / ".paos" / "store.json").write_text(record)
        self.environ = {key: value for key, value in os.environ.items() if not key.startswith("PAOS_")}
        self.environ |= {"PAOS_HOME": str(path), "PAOS_AGENTS": str(self.root)}

    def open(self, name="rio", **options):
        return AgentState.open(name, self.root, **options)

    def send(self, id="", to="rio", **fields):
        return deposit_to(self.root, to, Message(id, "vida", to, "", "flag", "normal", "subject", "body"))

    def paos(self, *words, **options):
        done = subprocess.run(
            [*PAOS, *words], check=False, env=self.environ, capture_output=True, text=True, timeout=120, **options
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done.returncode, done.stdout + done.stderr

    def begin(self, *words):
        return subprocess.Popen([*PAOS, *words], env=self.environ, stdout=subprocess.PIPE, text=True)


@pytest.fixture
def hosts(tmp_path, nats_address):
    """Two, whose leases outlive what holds up a busy machine."""
    return [Host(tmp_path / name, nats_address._replace(ttl_s=60.0)) for name in "ab"]


@pytest.fixture
def short_leases(tmp_path, nats_address):
    """Two, of which one may wait for the end of the other's lease."""
    return [Host(tmp_path / name, nats_address) for name in "ab"]


@pytest.fixture
def store(nats_address):
    store = NatsStore(nats_address)
    yield store
    store.close()


def _ends(state):
    found = []
    state.journal.find(lambda entry: bool(found.append(entry)) and False, lambda entry: False)
    return [entry["session_id"] for entry in found if entry.get("event") == "session_end"]


def _figures(state):
    lifetime = state.metrics().lifetime
    return tuple(lifetime[key] for key in ("sessions_total", "sessions_error", "sources_archived"))


def test_what_an_agent_does_is_in_the_bucket_when_it_is_acknowledged(hosts, store):
    a, _ = hosts
    with a.open(create=True) as rio:
        rio.remember("patterns", "The lane is narrow.")
        assert b"The lane is narrow." in store.get("agents/rio/memory.md").data
        seq = rio.event("sources_archived", count=5)
        assert f'"seq":{seq}'.encode() in store.get("agents/rio/journal.jsonl").data.replace(b" ", b"")
        rio.start(type="research")
        assert [name for name in store.list("agents/rio/.paos/jobs") if name.endswith(".jsonl")]
        rio.finish("completed", summary="done")
        assert b"done" in store.get("agents/rio/report.json").data
        assert store.get("agents/rio/metrics.json").data == (a.root / "rio" / "metrics.json").read_bytes()


def test_an_agent_moves_with_all_that_it_has(hosts):
    a, b = hosts
    with a.open(create=True) as rio:
        rio.add_task("read the paper")
        rio.remember("patterns", "The lane is narrow.")
        rio.start(type="research")
        rio.finish("completed", summary="done", sources_archived=3)
    a.send()
    with b.open(take=True) as rio:
        assert [task.description for task in rio.tasks()] == ["read the paper"]
        assert "narrow" in rio.memory().remarks[0].text and _figures(rio) == (1, 0, 3)
        assert len(rio.inbox.waiting()) == 1 and rio.findings() == ()
        rio.start(type="research")
        rio.finish("completed", summary="twice", sources_archived=4)
        assert _figures(rio) == (2, 0, 7) and rio.findings() == ()
    with a.open() as copy:  # to look at
        assert _figures(copy) == (2, 0, 7)
        with pytest.raises(Busy, match="--take"):
            copy.remember("patterns", "not here")
    assert "not here" not in (a.root / "rio" / "memory.md").read_text()


@pytest.mark.proof
def test_while_the_lease_lives_another_host_is_told_who_holds_it(hosts):
    a, b = hosts
    with a.open(create=True) as rio:
        rio.start(type="research")
        code, said = b.paos("agent", "run", "rio", "--", "true")
        assert code == 2 and str(os.getpid()) in said, said
        code, said = b.paos("agent", "run", "rio", "--take", "--", "true")
        assert code == 2 and str(os.getpid()) in said, said
        code, said = a.paos("agent", "event", "rio", "note", "text=of the same host")  # shares the lease
        assert code == 0, said
        rio.event("note", text="goes on")
        rio.finish("completed")
    code, said = b.paos("agent", "run", "rio", "--", "true")
    assert code == 2 and "--take" in said, said
    code, said = b.paos("agent", "run", "rio", "--take", "--", "true")
    assert code == 0, said
    with b.open() as rio:
        assert len(_ends(rio)) == 2


def test_letters_cross_hosts_both_ways(hosts):
    a, b = hosts
    a.open(create=True).close()
    b.open("vida", create=True).close()
    assert b.send("from-b").new and not b.send("from-b").new
    assert a.send("from-a", to="vida").new
    with a.open() as rio, b.open("vida") as vida:
        one, two = rio.inbox.claim("a"), vida.inbox.claim("b")
        assert (one.message.id, two.message.id) == ("from-b", "from-a")
        assert rio.inbox.claim("a") is None
        rio.inbox.ack(one.token)
        assert b.send("late").new  # while its host works
        until(rio.inbox.waiting)
    assert not b.send("from-b").new  # it was read
    with pytest.raises(NotFound, match="rio"):
        b.send(to="nobody")


def test_a_session_killed_with_its_host_ends_once_as_lost(short_leases):
    a, b = short_leases
    a.open(create=True).close()
    for n in range(2):
        a.send(f"letter-{n}")
    run = a.begin("agent", "run", "rio", "--", "sh", "-c", "echo begun; sleep 60")
    assert run.stdout.readline() == "begun\n"
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    run.stdout.close()
    with b.open(take=True) as rio:
        sid = rio.start(type="research").session_id
        assert len(rio.inbox.claimed(sid)) == 2  # redelivered
        rio.finish("completed")
        ends = _ends(rio)
        assert len(ends) == len(set(ends)) == 2
        assert _figures(rio) == (2, 1, 0)
    with a.open() as copy:
        assert _ends(copy) == ends


def test_edits_of_a_host_that_lost_the_agent_are_set_aside_and_named(hosts):
    a, b = hosts
    with a.open(create=True) as rio:
        rio.remember("patterns", "first")
    memory = a.root / "rio" / "memory.md"
    memory.write_text(memory.read_text() + "\n- taken in, as ever\n")
    a.open().close()
    with b.open(take=True) as rio:
        assert "taken in, as ever" in (b.root / "rio" / "memory.md").read_text()
        rio.remember("patterns", "second")
    memory.write_text(memory.read_text() + "\n- too late\n")
    code, said = a.paos("agent", "show", "rio")
    assert code == 0 and "memory.md" in said and "aside" in said, said
    (kept,) = (a.root / ".paos" / "aside").glob("rio/*memory.md")
    assert "too late" in kept.read_text()
    assert "second" in memory.read_text() and "too late" not in memory.read_text()
    with b.open() as rio:
        assert "too late" not in (b.root / "rio" / "memory.md").read_text()


def test_a_host_that_was_frozen_writes_nothing_under_its_old_lease(short_leases):
    a, b = short_leases
    rio = a.open(create=True)
    rio.start(type="research")
    mirror = rio.agent_dir.mirror
    mirror.lease.stall()  # it renews nothing any more, as a host that stands still
    until(lambda: mirror.store.lease(mirror.lease.name).holder() is None)
    with b.open(take=True) as other:
        other.event("note", text="of b")
        with pytest.raises(StorageError):
            rio.event("note", text="of a")
        with pytest.raises(StorageError):
            rio.finish("completed")
        rio.close()
        assert other.journal.find(lambda entry: entry.get("text") == "of a", lambda entry: False) is None
    with a.open(take=True) as rio:
        assert rio.journal.find(lambda entry: entry.get("text") == "of b", lambda entry: False)
        assert rio.recover() and len(_ends(rio)) == 1


def test_the_command_of_a_session_ends_when_its_host_has_lost_the_lease(short_leases):
    a, b = short_leases
    with a.open(create=True) as rio, ThreadPoolExecutor() as pool:
        command = CommandRequest(("sleep", "600"), "ad-hoc", None)
        work = pool.submit(run, rio, command, heartbeat_s=0.05, out=-1, err=-1)
        until(lambda: rio.runner() and rio.session() and rio.session().status == "running")
        mirror = rio.agent_dir.mirror
        mirror.lease.stall()
        with pytest.raises(StorageError):
            work.result(PATIENCE_S)
        until(lambda: mirror.store.lease(mirror.lease.name).holder() is None)  # its holder gives it up before it ends
    with b.open(take=True) as rio:
        assert rio.recover() and len(_ends(rio)) == 1


def test_a_session_of_a_script_keeps_the_lease_from_one_command_to_the_next(hosts):
    a, b = hosts
    a.open(create=True).close()
    assert a.paos("agent", "start", "rio", "--for", str(os.getpid()))[0] == 0
    code, said = b.paos("agent", "run", "rio", "--take", "--", "true")
    assert code == 2 and "--take" not in said, said
    assert a.paos("agent", "event", "rio", "sources_archived", "count=2")[0] == 0
    code, said = a.paos("agent", "end", "rio", "completed", "--summary", "by hand")
    assert code == 0, said
    with b.open(take=True) as rio:  # the last process of a freed it
        assert rio.report().summary == "by hand" and rio.recover() is False and _figures(rio) == (1, 0, 2)


def test_a_claim_survives_a_restart_of_the_server_and_is_the_only_one(tmp_path):
    server = OwnServer(str(tmp_path / "engine"), os.environ)
    address = server.ensure(StoreAddress(bucket="claims", ttl_s=30.0))
    a, b = Host(tmp_path / "a", address), Host(tmp_path / "b", address)
    port = int(address.servers.rpartition(":")[2])
    try:
        until(lambda: _listens(port))
        with a.open(create=True) as rio, ThreadPoolExecutor() as pool:
            sent = [b.send(f"letter-{n}").message.id for n in range(10)]
            until(lambda: len(rio.inbox.waiting()) == 10)
            got = [_claim_and_ack(rio) for _ in range(5)]
            killed = server.pid
            os.kill(killed, signal.SIGKILL)
            claims = pool.submit(lambda: [_claim_and_ack(rio) for _ in range(5)])  # waits for the server
            until(lambda: server.ensure(address) and server.pid != killed and _listens(port))
            got += claims.result(PATIENCE_S)
            assert sorted(got) == sorted(sent) and rio.inbox.claim("one") is None
        with b.open(take=True) as rio:
            assert rio.inbox.claim("two") is None and not rio.inbox.waiting()
    finally:
        server.close()


def _listens(port):
    with socket.socket() as found:
        return found.connect_ex(("127.0.0.1", port)) == 0


def _claim_and_ack(state):
    claimed = state.inbox.claim("one")
    state.inbox.ack(claimed.token)
    return claimed.message.id


def test_what_is_larger_than_a_message_of_the_server_crosses_hosts(hosts):
    a, b = hosts
    picture = os.urandom(1_500_000)
    with a.open(create=True) as rio:
        rio.agent_dir.root.replace("artifacts/picture.png", picture)
        rio.edit_memory(lambda old: old + b"\n- pinned: " + b"x" * 600_000 + b"\n")
        for n in range(40):
            rio.event("note", text="y" * 20_000, n=n)
    with b.open(take=True) as rio:
        assert (b.root / "rio" / "artifacts" / "picture.png").read_bytes() == picture
        assert (b.root / "rio" / "memory.md").read_bytes() == (a.root / "rio" / "memory.md").read_bytes()
        assert (b.root / "rio" / "journal.jsonl").read_bytes() == (a.root / "rio" / "journal.jsonl").read_bytes()
        rio.event("note", text="of b")
        assert rio.findings() == ()
    with a.open() as copy:
        assert copy.journal.find(lambda entry: entry.get("text") == "of b", lambda entry: False)


def test_a_removed_agent_is_gone_on_every_host(hosts, store):
    a, b = hosts
    a.open(create=True).close()
    assert a.paos("agent", "rm", "rio")[0] == 0
    assert not store.list("agents/rio")
    with pytest.raises(NotFound):
        b.open()


def test_agents_of_one_name_on_two_hosts_are_not_mixed(hosts):
    a, b = hosts
    with AgentState.open("rio", b.root, disk=Disk(), create=True) as rio:  # before this host had an engine
        rio.remember("patterns", "of b alone")
    with a.open(create=True) as rio:
        rio.remember("patterns", "of a")
    with b.open() as copy:
        assert "of a" in copy.memory().remarks[0].text
    (kept,) = (b.root / ".paos" / "aside" / "rio").iterdir()
    assert "of b alone" in (kept / "memory.md").read_text()


def drain(a, b, n):
    """Both hosts send `n` letters, take the agent from each other, and claim: the ids that each had."""
    a.open(create=True).close()
    got = {}

    def work(host, ids):
        mine = got[host] = []
        for id in ids:
            host.send(id)
        while len(got[a]) + len(got.get(b, ())) < n:
            try:
                rio = host.open(take=True)
            except (Busy, Conflict):  # the other one works on it
                continue
            with rio, suppress(Busy):
                for _ in range(7):
                    if (claimed := rio.inbox.claim("claimer")) is not None:
                        mine.append(claimed.message.id)
                        rio.inbox.ack(claimed.token)

    sent = [f"letter-{i}" for i in range(n)]
    got[a] = []
    with ThreadPoolExecutor() as pool:
        for done in [pool.submit(work, a, sent[::2]), pool.submit(work, b, sent[1::2])]:
            done.result()
    with a.open(take=True) as rio:
        assert rio.inbox.claim("late") is None and not rio.inbox.waiting() and not rio.inbox.dead()
    return sorted(sent), got[a], got[b]


def test_claimers_on_two_hosts_never_have_the_same_letter(hosts):
    sent, one, two = drain(*hosts, 50)
    assert sorted(one + two) == sent


@pytest.mark.proof
def test_two_homes_on_one_server_share_agents_and_letters(tmp_path, nats_address):
    where = nats_address
    url = f"nats://{where.token}@{where.servers.partition('//')[2]}/{where.bucket}?ttl=2"
    a, b = Host(tmp_path / "a", None), Host(tmp_path / "b", None)
    for host, name in ((a, "rio"), (b, "vida")):
        assert host.paos("onboard")[0] == 0
        assert host.paos("agent", "init", name)[0] == 0
        code, said = host.paos("up", "--store", url, "--until-idle")
        assert code == 0, said
    code, said = b.paos("agent", "send", "rio", "hello", "--from", "vida")  # nothing of a runs
    assert code == 0, said
    code, said = a.paos("agent", "inbox", "rio")
    assert code == 0 and "hello" in said
    copy = tmp_path / "copy"
    assert a.paos("store", "export", str(copy))[0] == 0
    assert (copy / "agents" / "vida" / "memory.md").is_file() and [*(copy / "agents" / "rio" / "inbox").iterdir()]
