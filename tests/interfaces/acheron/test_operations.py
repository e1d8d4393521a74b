"""The operations of the acheron channel, as recorded."""

import base64
import json

import pytest

from worldfs.testing.served_tree import ShapedTree
from worldfs.tree.verb_values import Written


def refused(reply, code, message=None):
    error = reply.get("error", {})
    return error.get("code") == code and message in (None, error.get("message"))


def data(reply):
    return base64.b64decode(reply["payload"]["data_b64"])


@pytest.fixture
def run(hold):
    def hold_on(life):
        async def begin(stand):
            stand.tree.files.update(
                {"/agents/self/input": b"", "/nodes/n/STATUS.json": b'{"kind":"node"}', "/meta/x": b"xyz"}
            )
            stand.tree.read_only.add("/nodes/n/STATUS.json")
            async with stand.connect() as plug:
                await life(plug, stand)

        hold(begin)

    return hold_on


def test_a_walk_is_all_or_nothing_and_dots_work(run):
    async def life(plug, stand):
        reply = await plug.ask("walk", fid=1, newfid=2, path=["agents", "..", "nodes", "."])
        assert reply["payload"]["walked"] == 4
        assert reply["payload"]["qid"]["type"] == "dir"
        reply = await plug.ask("walk", fid=1, newfid=3, path=[])
        assert reply["payload"] == {"qid": {"path": 1, "type": "dir"}, "walked": 0}
        assert refused(
            await plug.ask("walk", fid=1, newfid=4, path=["agents", "no"]), "enoent", "walk segment not found"
        )
        assert refused(await plug.ask("walk", fid=77, newfid=4, path=[]), "enoent", "unknown fid")
        assert refused(await plug.ask("walk", fid=1, path=[]), "invalid", "newfid is required")
        assert refused(await plug.ask("walk", newfid=4, path=[]), "invalid", "fid is required")
        assert refused(await plug.ask("attach"), "invalid", "fid is required")
        assert refused(await plug.ask("stat", fid=4), "enoent", "unknown fid")

    run(life)


def test_a_stat_says_what_a_client_makes_an_inode_of(run):
    async def life(plug, stand):
        assert (await plug.ask("stat", fid=1))["payload"] == {
            "id": 1,
            "name": "/",
            "kind": "dir",
            "size": 0,
            "mode": 16_877,
            "writable": False,
        }
        first = (await plug.walk("/nodes/n/STATUS.json", 2))["payload"]["qid"]
        reply = (await plug.ask("stat", fid=2))["payload"]
        assert reply == {
            "id": first["path"],
            "name": "STATUS.json",
            "kind": "file",
            "size": 15,
            "mode": 33_060,
            "writable": False,
        }
        await plug.walk("/meta/x", 2)
        assert (await plug.ask("stat", fid=2))["payload"]["mode"] == 33_188

    run(life)


def test_opening_looks_at_what_is_possible(run):
    async def life(plug, stand):
        assert (await plug.ask("open", fid=1))["payload"] == {"qid": {"path": 1, "type": "dir"}, "iounit": 65_536}
        for mode in ("w", "rw"):
            reply = await plug.ask("open", fid=1, mode=mode)
            assert refused(reply, "eisdir", "directories are read-only opens")
        await plug.walk("/nodes/n/STATUS.json", 2)
        assert refused(await plug.ask("open", fid=2, mode="rw"), "eperm", "file is read-only")
        assert (await plug.ask("open", fid=2, mode="r"))["ok"] is True

    run(life)


def test_reading_in_pieces_and_past_the_end(run):
    async def life(plug, stand):
        reply = await plug.ask("read", fid=1, offset=0, count=10)
        assert (data(reply), reply["payload"]["n"], reply["payload"]["eof"]) == (b"README.md\n", 10, False)
        reply = await plug.ask("read", fid=1, offset=10, count=2000)
        assert (data(reply), reply["payload"]["eof"]) == (b"agents\nmeta\nnodes", True)
        reply = await plug.ask("read", fid=1, offset=5000, count=20)
        assert reply["payload"] == {"data_b64": "", "n": 0, "eof": True}
        await plug.walk("/nodes/n/STATUS.json", 2)
        assert data(await plug.ask("read", fid=2, offset=0, count=10)) == b'{"kind":"n'
        assert refused(await plug.ask("read", fid=99), "enoent", "unknown fid")

    run(life)


def test_writing_needs_data_a_file_and_the_right(run):
    async def life(plug, stand):
        assert refused(await plug.ask("write", fid=1, data="x"), "eisdir", "write requires file fid")
        assert refused(await plug.ask("write", fid=1), "invalid", "write requires data")
        await plug.walk("/nodes/n/STATUS.json", 2)
        assert refused(await plug.ask("write", fid=2, data="x"), "eperm", "file is read-only")
        await plug.walk("/meta/x", 3)
        assert (await plug.ask("write", fid=3, offset=5, data_b64=base64.b64encode(b"\xff").decode()))["payload"] == {
            "n": 1
        }
        assert stand.tree.files["/meta/x"] == b"xyz\0\0\xff"
        reply = await plug.ask("write", fid=3, offset=2**63, data="x")
        assert refused(reply, "invalid")
        assert reply["error"]["message"].startswith("write offset is out of range")

    run(life)


def test_a_control_takes_the_bytes_of_one_message_and_says_what_became_of_them(run):
    async def life(plug, stand):
        stand.tree.controls["/agents/self/input"] = lambda text: Written(
            len(text), {"job": "job-1", "result_path": "/agents/self/jobs/job-1/result.txt"}
        )
        await plug.walk("/agents/self/input", 2)
        reply = await plug.ask("write", fid=2, offset=7, data="hello", correlation_id="corr-9", id="i")
        assert reply["payload"] == {"n": 5, "job": "job-1", "result_path": "/agents/self/jobs/job-1/result.txt"}
        await plug.ask("write", fid=2, data="again", id="only-id")
        assert [(w.data, w.correlation) for w in stand.tree.writes] == [(b"hello", "corr-9"), (b"again", "only-id")]

    run(life)


def test_giving_up_and_flushing_what_is_unknown_is_fine(run):
    async def life(plug, stand):
        assert (await plug.ask("clunk", fid=999))["payload"] == {}
        assert (await plug.ask("flush"))["payload"] == {}
        assert (await plug.ask("flush", oldtag=3))["payload"] == {}
        await plug.walk("/meta/x", 2)
        await plug.ask("clunk", fid=2)
        assert refused(await plug.ask("stat", fid=2), "enoent", "unknown fid")

    run(life)


def test_a_frame_without_a_tag_is_answered_without_one(run):
    async def life(plug, stand):
        await plug.send(channel="acheron", type="acheron.t_attach", fid=1)
        assert "tag" not in await plug.receive()

    run(life)


def test_a_read_is_cut_so_that_the_reply_fits_msize(run):
    async def life(plug, stand):
        stand.tree.files["/big"] = bytes(2 << 20)
        await plug.ask("version", version="acheron-1", msize=8192)
        await plug.walk("/big", 2)
        await plug.send(channel="acheron", type="acheron.t_read", tag=7, fid=2, count=1 << 20)
        text = await plug.socket.recv()
        assert 6_000 < len(text) <= 8_192

    run(life)


def test_a_path_of_our_own_bug_is_an_answer_and_a_line_in_the_log(caplog, run):
    async def life(plug, stand):
        stand.tree.controls["/meta/x"] = lambda text: 1 / 0
        await plug.walk("/meta/x", 2)
        assert refused(await plug.ask("write", fid=2, data="x"), "execution_failed", "internal error")
        assert (await plug.control("ping"))["ok"] is True

    run(life)
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize("name", ["a/b", "", "..\0", "x" * 3000])
def test_odd_names_are_not_found(name, run):
    async def life(plug, stand):
        assert refused(await plug.ask("walk", fid=1, newfid=2, path=["nodes", name]), "enoent")

    run(life)


def test_what_is_ours_beyond_the_reference_is_named_to_who_asks_only(run):
    async def life(plug, stand):
        plain = await plug.ask("version", msize=1_048_576, version="acheron-1")
        assert set(plain["payload"]) == {"msize", "version"}
        asked = await plug.ask("version", version="acheron-1", extensions=["create", "stats", "fly"])
        assert asked["payload"]["extensions"] == ["create", "stats"]

    run(life)


def test_a_directory_is_read_with_all_about_its_names(run):
    async def life(plug, stand):
        await plug.walk("/nodes/n", 2)
        lines = data(await plug.ask("read", fid=2, stats=True)).split(b"\n")
        assert [json.loads(line) for line in lines] == [(await _stat(plug, "/nodes/n/STATUS.json"))]
        assert data(await plug.ask("read", fid=2)) == b"STATUS.json"
        await plug.walk("/meta/x", 3)
        assert data(await plug.ask("read", fid=3, stats=True)) == b"xyz"

    run(life)


def test_a_file_is_made_and_staged_bytes_become_it_at_the_clunk(hold):
    async def life(stand):
        stand.realm.tree = tree = ShapedTree(stand.realm.feed)
        tree.files["/a/old"] = b"a long content"
        async with stand.connect() as plug:
            await plug.walk("/a", 2)
            assert (await plug.ask("create", fid=2, newfid=3, path=["new"]))["payload"]["qid"]["type"] == "file"
            assert (await plug.ask("write", fid=3, data="x"))["payload"]["n"] == 1
            assert tree.files["/a/new"] == b"x"
            for wrong in (["a", "b"], [], [".."], ["a/b"], [""]):
                assert refused(await plug.ask("create", fid=2, newfid=4, path=wrong), "invalid")
            assert refused(await plug.ask("create", fid=2, path=["y"]), "invalid", "newfid is required")
            await plug.walk("/a/old", 5)
            await plug.ask("open", fid=5, mode="w", stage=True)
            await plug.ask("write", fid=5, offset=0, data="sho")
            await plug.ask("write", fid=5, offset=3, data="rt")
            assert tree.files["/a/old"] == b"a long content"
            assert (await plug.ask("clunk", fid=5))["ok"]
            assert tree.files["/a/old"] == b"short"

    hold(life)


def test_a_write_that_names_another_revision_changes_nothing(run):
    async def life(plug, stand):
        await plug.ask("version", version="acheron-1", extensions=["revision"])
        seen = (await _stat(plug, "/meta/x"))["revision"]
        assert (await plug.ask("write", fid=9, data="abc", revision=seen))["ok"]
        late = await plug.ask("write", fid=9, data="late", revision=seen)
        assert refused(late, "conflict")
        assert stand.tree.files["/meta/x"] == b"abc"
        now = (await _stat(plug, "/meta/x"))["revision"]
        assert refused(await plug.ask("write", fid=9, offset=1, data="b", revision=now), "invalid")
        await plug.ask("open", fid=9, mode="w", stage=True)
        assert refused(await plug.ask("write", fid=9, data="b", revision=now), "invalid")

    run(life)


def test_revisions_and_reasons_are_told_to_who_asks_only(run):
    async def life(plug, stand):
        assert not {"revision", "why"} & set(await _stat(plug, "/nodes/n/STATUS.json"))
        assert (await plug.ask("write", fid=1, data="x", revision="1"))["error"]["code"] == "eisdir"
        await plug.walk("/meta/x", 3)
        assert (await plug.ask("write", fid=3, data="xyz", revision="never"))["payload"] == {"n": 3}
        await plug.ask("version", version="acheron-1", extensions=["revision", "why"])
        found = await _stat(plug, "/nodes/n/STATUS.json")
        assert found["why"] == {"en": "it may not be written here", "zh": "it may not be written here"}
        assert "why" not in await _stat(plug, "/meta/x") and "why" not in await _stat(plug, "/meta")

    run(life)


async def _stat(plug, path):
    await plug.walk(path, 9)
    return (await plug.ask("stat", fid=9))["payload"]
