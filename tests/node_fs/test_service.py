"""A service as files: orders, results, failures in words, and the switches."""

import asyncio
import errno
import json
import os
import stat
import sys

import pytest

from worldfs.base.errors import BadInput, MissingRequirement, NotFound
from worldfs.base.proc import find_process
from worldfs.plugins.node_fs.fs_errors import FsError
from worldfs.plugins.node_fs.node_service import NodeService
from worldfs.plugins.node_fs.service_manifest import ServiceManifest, read
from worldfs.plugins.node_fs.service_process import OUTPUT_MAX
from worldfs.plugins.node_fs.service_tree import ServiceTree
from worldfs.testing.export_server import connected_client, run
from worldfs.testing.waiting import until

DOUBLE = "import json,sys; x=json.load(sys.stdin); print(json.dumps({'twice': 2*x['n']}))"


def service(code=DOUBLE, timeout_ms=600_000, kept=None, environ=None):
    manifest = ServiceManifest("double", {"service_id": "double"}, (sys.executable, "-c", code), "/", timeout_ms)
    return NodeService(manifest, dict(os.environ if environ is None else environ), kept)


def ended(one):
    until(lambda: one.status()["state"] != "running")
    return one.status()


def outcome(code, payload=b'{"n":1}', **options):
    one = service(code, **options)
    one.invoke(payload)
    return ended(one), one


def test_a_payload_goes_in_and_what_is_printed_is_the_result():
    status, one = outcome(DOUBLE, b'{"n":21}')
    assert (status["state"], status["error"], status["invocation"]) == ("done", None, 1)
    assert json.loads(one.result) == {"twice": 42}
    assert one.counts.invokes_total == 1


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("import sys; sys.exit('no such lamp')", "error: exit status 1: no such lamp"),
        ("import os; os.kill(os.getpid(), 9)", "error: killed by signal 9"),
        (f"print('x' * {OUTPUT_MAX + 10})", f"error: printed more than {OUTPUT_MAX} bytes"),
    ],
)
def test_a_program_that_fails_says_why_in_the_status_the_result_and_the_last_error(code, error):
    status, one = outcome(code)
    assert (status["state"], status["error"]) == ("failed", error)
    assert json.loads(one.result)["error"] == {"code": "error", "message": error.partition(": ")[2]}
    assert one.last_error.startswith(error.encode())


def test_a_program_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path):
    started = tmp_path / "started"
    code = f"""import subprocess, time
child = subprocess.Popen(["sleep", "600"])
open({str(started)!r}, "w").write(str(child.pid))
time.sleep(600)"""
    for timeout_ms in (400, 4_000, 40_000):  # until it got as far as that on this machine
        status, _ = outcome(code, timeout_ms=timeout_ms)
        assert status["error"] == f"timeout: not done in {timeout_ms / 1000:g} s"
        if started.exists() and started.read_text():
            break
    child = int(started.read_text())
    until(lambda: (one := find_process(child)) is None or one.dead or one.name != "sleep", "it goes on")


def test_a_program_that_reads_nothing_and_prints_no_json_is_done_as_well():
    status, one = outcome("print('hello')", b'"' + b"x" * 500_000 + b'"')
    assert status["state"] == "done"
    assert json.loads(one.result) == {"text": "hello\n"}


def test_a_program_does_not_see_our_tokens():
    code = "import json,os; print(json.dumps(sorted(k for k in os.environ if k.startswith('PAOS'))))"
    _, one = outcome(code, environ={"PAOS_TOKEN": "sw-x", "PAOS_INVITE": "inv-x", "PAOS_HOME": "/h"})
    assert json.loads(one.result) == ["PAOS_HOME", "PAOS_SERVICE"]


def test_one_order_at_a_time_and_restart_ends_the_one_that_runs():
    one = service("import time; time.sleep(600)")
    one.invoke(b"{}")
    for act in (lambda: one.invoke(b"{}"), one.reset):
        with pytest.raises(FsError) as caught:
            act()
        assert caught.value.number == errno.EBUSY
    one.restart()
    assert one.status()["state"] == "idle"
    assert one.counts.restarts_total == 1
    assert one.counts.failures_total == 1


def test_a_disabled_service_takes_no_order_until_it_is_enabled():
    one = service()
    one.disable()
    with pytest.raises(FsError, match="disabled"):
        one.invoke(b"{}")
    assert service(kept=one.kept()).enabled is False
    one.enable()
    one.invoke(b'{"n":1}')
    assert ended(one)["state"] == "done"


def test_too_many_failures_in_a_row_switch_it_off_or_let_it_rest():
    one = service("import sys; sys.exit(3)")
    one.configure(b'{"supervision":{"max_consecutive_failures":2}}')
    for _ in range(2):
        one.invoke(b"{}")
        ended(one)
    assert one.status()["enabled"] is False
    one.enable()
    one.configure(b'{"supervision":{"cooldown_ms":60000}}')
    one.invoke(b"{}")
    ended(one)
    with pytest.raises(FsError, match="rests"):
        one.invoke(b"{}")
    one.reset()
    one.invoke(b"{}")
    ended(one)


@pytest.mark.parametrize("config", [b"[]", b"x", b'{"timeout_ms":0}', b'{"timeout_ms":"1"}', b'{"supervision":1}'])
def test_a_configuration_that_makes_no_sense_changes_nothing(config):
    one = service()
    with pytest.raises(FsError) as caught:
        one.configure(config)
    assert caught.value.number == errno.EINVAL
    assert one.config.timeout_ms == 600_000


# -- over the protocol -------------------------------------------------------------------------------------------------


def test_a_service_is_worked_over_the_protocol_and_tells_of_its_changes():
    async def work():
        pushes = []
        tree = ServiceTree(service(), 0)
        async with connected_client(tree, push=lambda frame: pushes.append(frame.body())) as fs:
            (export,) = await fs.exports()
            assert (export.name, export.source_id) == ("service:double", "service:double")
            root = export.root
            names = [one.name for one in await fs.listing(root)]
            assert names == sorted(names)
            assert {"status.json", "result.json", "last_error.txt", "metrics.json", "config.json", "health.json"} < {
                *names
            }
            control = (await fs.lookup(root, "control")).id
            kinds = {one.name: stat.filemode(one.attr.m) for one in await fs.listing(control)}
            assert kinds == dict.fromkeys(("disable", "enable", "invoke.json", "reset", "restart"), "-rw-r--r--")
            assert (await fs.lookup(root, "health")).id == (await fs.lookup(root, "health.json")).id

            h = await fs.open((await fs.lookup(control, "invoke.json")).id, 1)
            await fs.write(h, 0, b'{"n"')
            await fs.write(h, 4, b":4}")  # whole: it acts now
            await fs.close_handle(h)
            status = await fs.lookup(root, "status.json")
            while json.loads(await content(fs, status.id))["state"] == "running":
                await asyncio.sleep(0.01)
            assert json.loads(await content(fs, (await fs.lookup(root, "result.json")).id)) == {"twice": 8}
            while not any(push.get("node") == status.id for push in pushes):
                await asyncio.sleep(0.01)

            for op, number in (
                (fs.mkdir(root, "x"), 13),
                (fs.unlink(root, "status.json"), 13),
                (fs.open(status.id, 1), 13),
            ):
                with pytest.raises(FsError) as caught:
                    await op
                assert caught.value.number == number
            h = await fs.open((await fs.lookup(control, "invoke.json")).id, 1)
            await fs.write(h, 0, b"{half")
            with pytest.raises(FsError, match="no JSON"):
                await fs.close_handle(h)
            h = await fs.open((await fs.lookup(control, "disable")).id, 1)
            await fs.write(h, 0, b"1")
            await fs.close_handle(h)
            assert json.loads(await content(fs, status.id))["enabled"] is False

    run(work())


async def content(fs, node):
    h = await fs.open(node)
    try:
        return (await fs.read(h, 0))[0]
    finally:
        await fs.close_handle(h)


# -- manifests ---------------------------------------------------------------------------------------------------------


def manifest(tmp_path, **value):
    path = tmp_path / "service.json"
    path.write_text(json.dumps(value))
    return str(path)


def test_a_manifest_is_published_with_the_nodes_id_and_its_program_is_found_beside_it(tmp_path):
    program = tmp_path / "lamp.sh"
    program.write_text("#!/bin/sh\necho '{}'\n")
    program.chmod(0o755)
    found = read(
        manifest(
            tmp_path,
            service_id="lamp",
            kind="tool",
            endpoints=["/nodes/{node_id}/tool/lamp"],
            runtime={"type": "native_proc", "executable_path": "./lamp.sh", "args": ["-x"]},
        )
    )
    assert found.argv == (str(tmp_path / "./lamp.sh"), "-x")
    shown = found.service("node-7")
    assert shown["endpoints"] == ["/nodes/node-7/tool/lamp"]
    assert shown["mounts"][0]["mount_path"] == "/nodes/node-7/tool/lamp"
    assert shown["capabilities"] == {"invoke": True}
    assert shown["permissions"]["default"] == "deny-by-default"


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        ({"service_id": "../x"}, BadInput, "service_id"),
        ({"service_id": "x", "runtime": {"type": "wasm"}}, BadInput, "native_proc"),
        ({"service_id": "x", "runtime": {"type": "native_proc"}}, BadInput, "executable_path"),
        (
            {"service_id": "x", "runtime": {"type": "native_proc", "executable_path": "./no"}},
            MissingRequirement,
            "no program",
        ),
        ({"service_id": "x", "ops": []}, BadInput, "ops"),
        (
            {"service_id": "x", "endpoints": ["rel"], "runtime": {"type": "native_proc", "executable_path": "sh"}},
            BadInput,
            "endpoints",
        ),
    ],
)
def test_a_manifest_that_cannot_be_carried_out_is_refused_with_its_field(tmp_path, value, kind, text):
    with pytest.raises(kind) as caught:
        read(manifest(tmp_path, **value))
    assert text in str(caught.value)


def test_a_manifest_that_is_not_there_is_not_found(tmp_path):
    with pytest.raises(NotFound):
        read(str(tmp_path / "none.json"))
