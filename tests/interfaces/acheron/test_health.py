"""Health over HTTP."""

import asyncio
import json
from contextlib import suppress

import pytest
from prometheus_client.parser import text_string_to_metric_families
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from worldfs.testing.waiting import PATIENCE_S


async def get(port, path, method="GET", token=""):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    bearer = f"Authorization: Bearer {token}\r\n" if token else ""
    writer.write(f"{method} {path} HTTP/1.1\r\nHost: x\r\n{bearer}\r\n".encode())
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    return int(head.split()[1]), head.decode(), body


def run(hold, life):
    async def begin(stand):
        await life(stand, await stand.server.start_health())

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
        async with stand.connect() as plug:
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
            assert (await asyncio.wait_for(reader.read(), PATIENCE_S)).startswith(b"HTTP/1.1 414 ")
        writer.close()
        assert (await get(port, "/livez"))[0] == 200

    run(hold, life)


def test_an_upgrade_on_the_port_of_health_is_no_way_into_the_tree(hold):
    async def life(stand, port):
        with pytest.raises(InvalidStatus) as refused:
            async with connect(f"ws://127.0.0.1:{port}/", additional_headers={"Authorization": stand.token()}):
                pass
        assert refused.value.response.status_code == 404

    run(hold, life)


def test_the_served_port_says_that_it_lives_and_keeps_its_figures_for_those_who_may_read_them(hold):
    async def life(stand):
        port = stand.server.port
        assert (await get(port, "/livez"))[::2] == (200, b"ok\n")
        assert (await get(port, "/readyz"))[0] == 200
        for path in ("/metrics", "/metrics.json"):
            assert [
                (await get(port, path, token=token))[0] for token in ("", "wrong", stand.token("user"), stand.token())
            ] == [401, 401, 403, 200]
        assert json.loads((await get(port, "/metrics.json", token=stand.token()))[2])["projects"]["total"] == 1
        assert (await get(port, "/other"))[0] == (await get(port, "/"))[0] == 426
        assert stand.server.meters.refused == 2

    hold(life)


@pytest.mark.parametrize("method", ["HEAD", "POST"])
def test_a_method_other_than_get_moves_nothing_and_is_answered(hold, method):
    async def life(stand):
        status, head, body = await get(stand.server.port, "/livez", method)
        assert (status, body) == ((200, b"") if method == "HEAD" else (405, b"GET only\n"))
        assert "Content-Length: " in head

    hold(life)
