"""Health over HTTP."""

import asyncio
import json
from contextlib import suppress

import pytest
from prometheus_client.parser import text_string_to_metric_families

from worldfs.doors.acheron.health import Health
from worldfs.testing.waiting import PATIENCE_S


async def get(port, path, method="GET"):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"{method} {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    return int(head.split()[1]), head.decode(), body


def run(hold, life):
    async def begin(stand):
        health = Health(stand.server)
        port = await health.start("127.0.0.1", 0)
        try:
            await life(stand, port)
        finally:
            await health.stop()

    hold(begin)


def test_it_lives_and_is_ready(hold):
    async def life(stand, port):
        for path in ("/livez", "/readyz"):
            assert (await get(port, path))[::2] == (200, b"ok\n")
        stand.server._listening.close()
        assert (await get(port, "/readyz"))[0] == 503
        assert (await get(port, "/livez"))[0] == 200

    run(hold, life)


def test_the_figures_parse_and_count(hold):
    async def life(stand, port):
        async with stand.plug() as plug:
            await plug.ask("stat", fid=99)
            families = {
                family.name: family
                for family in text_string_to_metric_families((await get(port, "/metrics"))[2].decode())
            }
            assert all(name.startswith("worldfs_") for name in families)
            value = {sample.name: sample.value for family in families.values() for sample in family.samples}
            assert value["worldfs_open_connections"] == 1
            assert value["worldfs_frames_in_total"] == 5
            assert value["worldfs_plane_projects_total"] == 1
            errors = {sample.labels["code"]: sample.value for sample in families["worldfs_errors"].samples}
            assert errors == {"enoent": 1}
            figures = json.loads((await get(port, "/metrics.json"))[2])
            assert figures["projects"]["total"] == 1
            assert figures["server"]["open_connections"] == 1
            assert figures["server"]["requests"]["acheron.t_stat"] == 1
            assert stand.token() not in json.dumps(figures)

    run(hold, life)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/", 404), ("GET", "/metrics?x=1", 200), ("POST", "/livez", 405), ("HEAD", "/livez", 200)],
)
def test_other_requests_are_answered(hold, method, path, status):
    async def life(stand, port):
        found = await get(port, path, method)
        assert found[0] == status
        if method == "HEAD":
            assert found[2] == b""

    run(hold, life)


def test_what_is_no_request_is_let_go(hold):
    async def life(stand, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"x" * 100_000)
        with suppress(ConnectionError):
            assert await asyncio.wait_for(reader.read(), PATIENCE_S) == b""
        writer.close()
        assert (await get(port, "/livez"))[0] == 200

    run(hold, life)
