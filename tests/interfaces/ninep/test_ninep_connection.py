"""The listener: files through 9P, and peers that mean no good."""

import errno
import gc
import os
import random
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from worldfs.interfaces.ninep.ninep_access import MOST_AUTHS
from worldfs.interfaces.ninep.ninep_session import NinePFid
from worldfs.testing.ninep_client import NO_FID, NinePClient, body_of, text
from worldfs.testing.waiting import PATIENCE_S, until
from worldfs.tree.row_table import FileKind

from .conftest import Listening


def number(raised):
    return raised.value.errno


# -- files -------------------------------------------------------------------------------------------------------------


def test_files_are_listed_read_and_sized(memory):
    with memory.client() as client:
        assert client.list("/") == ["a", "b", "null", "zero"]
        assert client.read("/a/one") == b"first"
        fid = client.walk("/a/two")
        assert client.getattr(fid).size == 6 and not client.getattr(fid).directory
        assert client.getattr(client.walk("/a")).directory


def test_a_write_is_there_with_the_fsync_as_one_change(memory):
    with memory.client() as client:
        before = memory.realm.feed.seq
        client.write("/b", b"x" * 200_000)
        assert memory.realm.tree.files["/b"] == b"x" * 200_000
        assert memory.realm.feed.seq == before + 1


def test_nothing_is_seen_of_a_write_before_its_end(memory):
    with memory.client() as client, memory.client() as reader:
        fid = client.walk("/b")
        client.open(fid, os.O_WRONLY | os.O_TRUNC)
        client.pwrite(fid, 0, b"half")
        assert reader.read("/b") == b"third"
        client.clunk(fid)
        assert reader.read("/b") == b"half"


def test_what_a_vanished_writer_had_not_committed_is_not_there(memory):
    client = memory.client()
    fid = client.walk("/b")
    client.open(fid, os.O_WRONLY | os.O_TRUNC)
    client.pwrite(fid, 0, b"half")
    client.close()
    with memory.client() as reader:
        until(lambda: len(memory.local._serving) == 1)
        assert reader.read("/b") == b"third"


def test_a_cut_by_another_fid_is_part_of_the_write(memory):
    """As a kernel does on `>`: open with O_TRUNC, then setattr of the size by the fid of the name."""
    with memory.client() as client, memory.client() as reader:
        name, fid = client.walk("/b"), client.walk("/b")
        client.open(fid, os.O_WRONLY | os.O_TRUNC)
        client.setattr_size(name, 0)
        assert reader.read("/b") == b"third"
        client.pwrite(fid, 0, b"new")
        client.clunk(fid)
        assert reader.read("/b") == b"new"


@pytest.mark.parametrize("flags", [os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_TRUNC])
def test_a_log_is_opened_to_append_or_not_at_all(memory, flags):
    tree, stat = memory.realm.tree, memory.realm.tree.stat
    tree.stat = lambda path: stat(path)._replace(kind=FileKind.LOG if path == "/b" else None)
    with memory.client() as client:
        with pytest.raises(OSError) as raised:
            client.open(client.walk("/b"), flags)
        assert number(raised) == errno.EPERM
        client.open(client.walk("/b"), os.O_WRONLY | os.O_APPEND)
        client.open(client.walk("/b"))


def test_files_are_made_renamed_and_removed(memory):
    with memory.client() as client:
        client.write("/a/new", b"made")
        root, a = client.walk("/"), client.walk("/a")
        client.rename(a, "new", root, "moved")
        assert client.read("/moved") == b"made"
        client.unlink(root, "moved")
        with pytest.raises(OSError) as raised:
            client.read("/moved")
        assert number(raised) == errno.ENOENT


def test_a_read_waits_and_is_woken_by_the_change(memory):
    memory.realm.tree.closed.add("/b")
    with memory.client() as client:
        fid = client.walk("/b")
        client.open(fid)
        client.send(116, struct.pack("<IQI", fid, 0, 100), tag=5)
        until(lambda: memory.host.waiters.waiting == 1)
        other = client.walk("/a/one")  # another request of the connection does not wait for it
        assert client.getattr(other).size == 5
        memory.call(lambda: memory.realm.tree.open("/b", b"at last"))
        reply = client.receive()
        assert reply.tag == 5 and body_of(reply, 116)[4:] == b"at last"


def test_a_flush_ends_a_waiting_read(memory):
    memory.realm.tree.closed.add("/b")
    with memory.client() as client:
        fid = client.walk("/b")
        client.open(fid)
        client.send(116, struct.pack("<IQI", fid, 0, 100), tag=5)
        until(lambda: memory.host.waiters.waiting == 1)
        client.flush(5)
        reply = client.receive()
        assert (reply.type, reply.tag) == (109, 9)
        until(lambda: memory.host.waiters.waiting == 0)
        assert client.read("/a/one") == b"first"


def test_a_peer_that_goes_leaves_no_waiter(memory):
    memory.realm.tree.closed.add("/b")
    client = memory.client()
    fid = client.walk("/b")
    client.open(fid)
    client.send(116, struct.pack("<IQI", fid, 0, 100), tag=5)
    until(lambda: memory.host.waiters.waiting == 1)
    client.close()
    until(lambda: memory.host.waiters.waiting == 0)


def held_fids():
    gc.collect()
    return [found for found in gc.get_objects() if isinstance(found, NinePFid)]


@pytest.mark.slice(3)
@pytest.mark.parametrize("part", [3, 7, 20, 40])
def test_a_peer_that_goes_in_the_middle_of_a_request_frees_its_fids(memory, part):
    """With a hundred fids, one being written, one waiting, and a request of which `part` bytes have come."""
    memory.realm.tree.closed.add("/b")
    client = memory.client()
    for number in range(100):
        client.ask(110, struct.pack("<IIH", 0, 100 + number, 0))
    writer, waiting = client.walk("/a/two"), client.walk("/b")
    client.open(writer, os.O_WRONLY | os.O_TRUNC)
    client.pwrite(writer, 0, b"half of it")
    client.open(waiting)
    client.send(116, struct.pack("<IQI", waiting, 0, 100), tag=5)
    until(lambda: memory.host.waiters.waiting == 1)
    whole = struct.pack("<IBHIQI", 523, 118, 6, writer, 0, 500) + b"x" * 500
    client.socket.sendall(whole[:part])
    client.close()
    until(lambda: not memory.local._serving)
    until(lambda: memory.host.waiters.waiting == 0)
    until(lambda: not held_fids())
    with memory.client() as other:  # nothing is held against the next writer
        assert other.read("/a/two") == b"second"
        other.write("/a/two", b"mine")
        assert other.read("/a/two") == b"mine"


def test_a_walk_says_how_far_it_came(memory):
    with memory.client() as client:
        body = struct.pack("<IIH", 0, 50, 3) + text("a") + text("one") + text("no")
        answer = client.ask(110, body)
        assert struct.unpack_from("<H", answer)[0] == 2
        with pytest.raises(OSError) as raised:
            client.getattr(50)  # the new fid is not there
        assert number(raised) == errno.EBADF


# -- peers that mean no good -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("type", "body", "expected"),
    [
        (110, struct.pack("<IIH", 0, 7, 17) + text("a") * 17, errno.EINVAL),  # 17 names
        (110, struct.pack("<IIH", 0, 7, 1) + text(".." * 200), errno.ENOENT),
        (110, struct.pack("<IIH", 0, 7, 1) + text("a/one"), errno.ENOENT),
        (110, struct.pack("<IIH", 0, 7, 1) + text("a\0"), errno.ENOENT),
        (110, struct.pack("<IIH", 0, 0, 1) + text("no"), errno.ENOENT),
        (110, struct.pack("<IIH", 99, 7, 0), errno.EBADF),  # an unknown fid
        (110, struct.pack("<IIH", 0, NO_FID, 0), errno.EINVAL),
        (104, struct.pack("<II", 0, NO_FID) + text("") + text("") + struct.pack("<I", 0), errno.EINVAL),  # fid in use
        (116, struct.pack("<IQI", 0, 0, 10), errno.EBADF),  # not open
        (118, struct.pack("<IQI", 0, 0, 1) + b"x", errno.EBADF),
        (118, struct.pack("<IQI", 0, 0, 100) + b"x", errno.EPROTO),  # data shorter than it says
        (12, struct.pack("<II", 0, os.O_WRONLY), errno.EISDIR),
        (12, struct.pack("<II", 0, 3), errno.EINVAL),
        (14, struct.pack("<I", 0) + text("n" * 256) + struct.pack("<III", 1, 0, 0), errno.ENAMETOOLONG),
        (14, struct.pack("<I", 0) + text("..") + struct.pack("<III", 1, 0, 0), errno.EINVAL),
        (16, struct.pack("<I", 0) + text("l") + text("/etc/passwd") + struct.pack("<I", 0), errno.EPERM),
        (70, struct.pack("<II", 0, 0) + text("l"), errno.EPERM),
        (40, struct.pack("<IQI", 0, 0, 100), errno.EBADF),  # a directory that is not open
        (76, struct.pack("<I", 0) + text("a") + struct.pack("<I", 0), errno.EISDIR),
        (76, struct.pack("<I", 0) + text("b") + struct.pack("<I", 0x200), errno.ENOTDIR),
        (22, struct.pack("<I", 0), errno.EINVAL),
        (30, struct.pack("<II", 0, 9) + text("user.x"), errno.EOPNOTSUPP),
        (52, struct.pack("<IBIQQI", 0, 0, 0, 0, 0, 0) + text(""), errno.EOPNOTSUPP),
        (99, b"", errno.EOPNOTSUPP),  # no such request
        (7, struct.pack("<I", 5), errno.EOPNOTSUPP),  # a reply
        (100, struct.pack("<I", 64) + text("9P2000.L"), errno.EINVAL),  # msize too small to say anything
        (8, b"", errno.EPROTO),
    ],
)
def test_a_bad_request_has_an_errno_and_the_connection_goes_on(memory, caplog, type, body, expected):
    with memory.client() as client:
        with pytest.raises(OSError) as raised:
            client.ask(type, body, tag=77)
        assert number(raised) == expected
        if type != 100:
            assert client.read("/a/one") == b"first"
    assert not caplog.records


def test_an_open_directory_is_listed_and_nothing_else(memory):
    with memory.client() as client:
        fid = client.walk("/a")
        client.open(fid)
        for type, body, expected in (
            (116, struct.pack("<IQI", fid, 0, 10), errno.EISDIR),
            (40, struct.pack("<IQI", fid, 0, 10), errno.EINVAL),  # not one name fits
            (110, struct.pack("<IIH", fid, fid, 0), errno.EINVAL),  # it would be another open file
        ):
            with pytest.raises(OSError) as raised:
                client.ask(type, body)
            assert number(raised) == expected, type
        assert client.readdir(fid) == ["one", "two"]


def test_an_unknown_version_is_answered_and_agrees_on_nothing(memory):
    with memory.client() as client:
        answer = client.ask(100, struct.pack("<I", 8_192) + text("9P2000.u"), tag=0xFFFF)
        assert answer[6:] == b"unknown"
        with pytest.raises(OSError) as raised:
            client.attach()
        assert number(raised) == errno.EPROTO


def test_a_huge_msize_is_cut_and_a_frame_above_it_ends_the_connection(memory):
    with memory.client(msize=0xFFFF_FFFF) as client:
        assert client.msize == 262_144
        client.socket.sendall(struct.pack("<IBH", 0x7FFF_FFFF, 118, 3))
        reply = client.receive()
        assert (reply.type, reply.tag, struct.unpack("<I", reply.body)[0]) == (7, 3, errno.EMSGSIZE)
        with pytest.raises(EOFError):
            client.receive()


@pytest.mark.parametrize("start", [b"\0\0\0\0", b"\6\0\0\0", b"GET / HTTP/1.1\r\n\r\n", b"\1", b""])
def test_what_is_no_frame_ends_the_connection_alone(memory, caplog, start):
    peer = socket.socket(socket.AF_UNIX)
    peer.settimeout(PATIENCE_S)
    peer.connect(memory.path)
    peer.sendall(start)
    peer.shutdown(socket.SHUT_WR)
    while peer.recv(4096):
        pass
    peer.close()
    with memory.client() as client:
        assert client.read("/a/one") == b"first"
    assert not caplog.records


def test_a_tag_in_use_is_refused(memory):
    memory.realm.tree.closed.add("/b")
    with memory.client() as client:
        fid = client.walk("/b")
        client.open(fid)
        client.send(116, struct.pack("<IQI", fid, 0, 100), tag=5)
        until(lambda: memory.host.waiters.waiting == 1)
        with pytest.raises(OSError) as raised:
            client.ask(24, struct.pack("<IQ", 0, 0), tag=5)
        assert number(raised) == errno.EINVAL


def test_ten_thousand_fids_are_held_and_their_end_is_an_errno(memory):
    with memory.client() as client:
        batch = b"".join(struct.pack("<IBHIIH", 17, 110, 1, 0, 100 + index, 0) for index in range(10_000))
        thread = threading.Thread(target=client.socket.sendall, args=(batch,))
        thread.start()
        assert all(body_of(client.receive(), 110) == b"\0\0" for _ in range(10_000))
        thread.join()
        with pytest.raises(OSError) as raised:
            for index in range(10_000, 17_000):
                client.ask(110, struct.pack("<IIH", 0, 100 + index, 0))
        assert number(raised) == errno.EMFILE
        client.clunk(100)
        assert client.read("/b") == b"third"


def test_waiting_requests_are_bounded(memory):
    memory.realm.tree.closed.add("/b")
    with memory.client() as client:
        fid = client.walk("/b")
        client.open(fid)
        for tag in range(1, 1_026):
            client.send(116, struct.pack("<IQI", fid, 0, 100), tag=tag)
        reply = client.receive()
        assert reply.type == 7 and struct.unpack("<I", reply.body)[0] == errno.EAGAIN


def test_connections_are_bounded(memory):
    held = [NinePClient(memory.path) for _ in range(128)]
    with pytest.raises((EOFError, ConnectionError)):
        NinePClient(memory.path)
    held[0].close()
    until(lambda: len(memory.local._serving) < 128)
    NinePClient(memory.path).close()
    for client in held:
        client.close()


@pytest.mark.parametrize("seed", range(3))
def test_noise_is_answered_by_errnos_and_nothing_else(memory, caplog, seed):
    """2,000 frames of known types with bodies of noise and small numbers, behind an attach."""
    chance = random.Random(seed)
    types = [
        8,
        12,
        14,
        16,
        18,
        20,
        22,
        24,
        26,
        30,
        32,
        40,
        50,
        52,
        54,
        70,
        72,
        74,
        76,
        102,
        104,
        108,
        110,
        116,
        118,
        120,
        122,
    ]
    with memory.client() as client:
        for _ in range(2_000):
            type = chance.choice(types)
            if chance.random() < 0.5:
                body = chance.randbytes(chance.randrange(60))
            else:
                parts = [struct.pack("<I", chance.choice([0, 1, 2, 3, NO_FID])) for _ in range(chance.randrange(8))]
                body = b"".join([*parts, text(chance.choice(["a", "one", "..", ""]))])
            client.send(type, body, tag=4)
            reply = client.receive()
            assert reply.tag == 4 and reply.type in (7, type + 1)
    assert not caplog.records
    with memory.client() as client:
        assert client.list("/")


# -- who may -----------------------------------------------------------------------------------------------------------


def test_loopback_needs_a_token(memory):
    with NinePClient(memory.port) as client:
        for aname in ("", "/", "planner", "operator", "sw-admin_wrong"):
            with pytest.raises(OSError) as raised:
                client.attach(aname)
            assert number(raised) == errno.EACCES
        client.attach(memory.token())
        assert client.read("/b") == b"third"


@pytest.mark.parametrize(
    "aname",
    ["operator/mother/ben", "operator/mother/nobody", "planner/mother/ben", "planner/rio/ben/model", "operator/mother/",
     "operator//ben", "admin", "user", "node", "admin/mother/ben", "nobody", "Operator", "/operator", "operator/",
     "planner/..", "planner/ben\n", "planner/a/b", " planner", "planner/operator", "planner/ben\\x"],
)  # fmt: skip
def test_a_name_that_is_no_role_and_agent_is_refused_at_the_attach(memory, aname):
    with NinePClient(memory.path) as client, pytest.raises(OSError) as raised:
        client.attach(aname)
    assert number(raised) == errno.EACCES


@pytest.mark.parametrize(
    ("aname", "actor"),
    [("", "operator/mother/operator"), ("/", "operator/mother/operator"), ("operator", "operator/mother/operator"),
     ("operator/rio", "operator/rio"), ("planner", "planner/mother"), ("planner/rio", "planner/rio"),
     ("critic", "critic/mother")],
)  # fmt: skip
def test_the_socket_gives_a_role_or_an_agent_and_no_person_but_the_operator(memory, aname, actor):
    bound = []
    attach = memory.realm.attach
    memory.realm.attach = lambda binding, alive: bound.append(binding) or attach(binding, alive)
    with memory.client(aname):
        assert [(binding.actor, binding.person) for binding in bound] == [
            (actor, "operator" if aname in ("", "/", "operator") else "")
        ]


def test_a_token_is_written_to_the_authentication_file(memory):
    with NinePClient(memory.port) as client:
        client.auth(8, memory.token())
        client.attach(afid=8)
        assert client.read("/b") == b"third"
    with NinePClient(memory.port) as client:
        client.auth(8, "sw-admin_wrong")
        with pytest.raises(OSError) as raised:
            client.attach(afid=8)
        assert number(raised) == errno.EACCES


def test_a_token_that_no_project_is_open_to_is_refused(memory):
    _, token = memory.host.tokens.add("bob")
    with NinePClient(memory.port) as client:
        with pytest.raises(OSError) as raised:
            client.attach(token)
        assert number(raised) == errno.EACCES


def test_authentication_files_are_bounded(memory):
    with NinePClient(memory.port) as client:
        for afid in range(MOST_AUTHS):
            client.auth(afid, "x")
        for afid in (0, MOST_AUTHS):  # in use, one too many
            with pytest.raises(OSError) as raised:
                client.auth(afid, "x")
            assert number(raised) == errno.EINVAL
        client.clunk(0)
        with pytest.raises(OSError) as raised:
            client.auth(0, "x" * 513)
        assert number(raised) == errno.EACCES


def test_a_revoked_token_ends_its_connections(memory):
    made, token = memory.host.tokens.add("alice", "admin")
    with NinePClient(memory.port) as client:
        client.attach(token)
        assert client.read("/b") == b"third"
        memory.host.tokens.revoke(made.id)
        memory.call(memory.tcp.drop_revoked)
        with pytest.raises((EOFError, ConnectionError)):
            client.read("/b")


def test_the_socket_is_its_owners_alone(memory):
    assert os.stat(memory.path).st_mode & 0o777 == 0o600


AS_NOBODY = """
import os, sys
from worldfs.testing.ninep_client import NinePClient
os.setuid(65_534)
try:
    NinePClient(sys.argv[1])
except (EOFError, ConnectionError):
    sys.exit(0)
sys.exit(1)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_another_user_is_not_served_even_if_the_socket_lets_them(memory):
    # Not below $TMPDIR, which may be ours alone: the other user must come as far as the socket.
    with tempfile.TemporaryDirectory(dir="/tmp") as place, Listening(memory.realm, Path(place)) as listening:
        os.chmod(place, 0o755)
        os.chmod(listening.path, 0o666)
        NinePClient(listening.path).close()
        ran = subprocess.run([sys.executable, "-c", AS_NOBODY, listening.path], check=False)
        assert ran.returncode == 0


def test_no_reply_is_larger_than_what_was_agreed_on(memory):
    """Whatever is asked for: a client would read the rest as another frame."""
    with memory.client(msize=4_096) as client:
        client.write("/a/large", b"x" * 10_000)
        fid = client.walk("/a/large")
        client.open(fid)
        assert 0 < len(client.pread(fid, 0, 1 << 20)) < 4_096
        assert client.read("/a/large") == b"x" * 10_000
        for at in range(200):
            client.write(f"/a/{'n' * 40}{at:03}", b"")
        listing = client.walk("/a")
        client.open(listing)
        assert len(client.ask(40, struct.pack("<IQI", listing, 0, 1 << 20))) < 4_096
