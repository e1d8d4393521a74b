"""web_search against peers on the loopback that speak as the services do, and against peers that do not."""

import gzip
import json
import re
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from worldfs.base.errors import BadInput
from worldfs.base.model import Cause, Json
from worldfs.formats.config_services import WebSearch
from worldfs.testing.call_fixtures import tool_run
from worldfs.testing.free_port import free_port
from worldfs.world.services.service_tool import ToolError
from worldfs.world.services.web import search_backends
from worldfs.world.services.web.web_request import MOST
from worldfs.world.services.web.web_search_tool import WebSearchTool

KEY = "tvly-very-secret"
PAGES = [(f"Page {n}", f"https://example.org/{n}", f"about {n}") for n in range(30)]
Reply = tuple[int, dict[str, str], bytes]


class Peer:
    """A web service on the loopback: `answer` gets what was asked and says what is sent back."""

    def __init__(self, answer: Callable[["Peer", str, Mapping[str, list[str]], Json], Reply]) -> None:
        self.asked: list[tuple[str, str, dict[str, str], Json]] = []  # method, path, headers, body
        peer = self

        class Door(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._serve({})

            def do_POST(self) -> None:
                self._serve(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

            def _serve(self, body: Json) -> None:
                parts = urlsplit(self.path)
                headers = {key.lower(): value for key, value in self.headers.items()}
                peer.asked.append((self.command, parts.path, headers, body))
                status, more, data = answer(peer, parts.path, parse_qs(parts.query), body)
                self.send_response(status)
                for key, value in ({"Content-Type": "application/json"} | more).items():
                    self.send_header(key, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Door)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def peer() -> Iterator[Callable[..., Peer]]:
    made: list[Peer] = []

    def make(answer: Callable[..., Reply]) -> Peer:
        made.append(Peer(answer))
        return made[-1]

    yield make
    for one in made:
        one.close()


def sent(value: object, status: int = 200, **headers: str) -> Reply:
    return status, {name.replace("_", "-"): text for name, text in headers.items()}, json.dumps(value).encode()


def searxng(peer: Peer, path: str, query: Mapping[str, list[str]], body: Json) -> Reply:
    """As SearXNG answers when its settings allow json."""
    assert path == "/search"
    if query.get("format") != ["json"]:
        return 200, {"Content-Type": "text/html"}, b"<html>"
    found = [
        {"url": url, "title": title, "content": text, "engine": "brave", "parsed_url": [], "score": 1.0,
         "publishedDate": None}
        for title, url, text in PAGES
    ]  # fmt: skip
    told = {"query": query["q"][0], "number_of_results": 0, "results": found, "answers": [], "unresponsive_engines": []}
    return sent(told)


def brave(peer: Peer, path: str, query: Mapping[str, list[str]], body: Json) -> Reply:
    if peer.asked[-1][2].get("x-subscription-token") != KEY:
        detail = {"id": "x", "status": 422, "code": "SUBSCRIPTION_TOKEN_INVALID", "detail": "The token is invalid."}
        return sent({"type": "ErrorResponse", "error": detail}, 422)
    count = int(query["count"][0])
    assert 1 <= count <= 20
    found = [
        {"type": "search_result", "title": title, "url": url, "description": f"<strong>{text}</strong> &amp; more"}
        for title, url, text in PAGES[:count]
    ]
    return sent({"type": "search", "query": {"original": query["q"][0]}, "web": {"type": "search", "results": found}})


def tavily(peer: Peer, path: str, query: Mapping[str, list[str]], body: Json) -> Reply:
    assert path == "/search"
    if peer.asked[-1][2].get("authorization") != f"Bearer {KEY}":
        return sent({"detail": {"error": "Unauthorized: missing or invalid API key."}}, 401)
    found = [
        {"title": title, "url": url, "content": text, "score": 0.9, "raw_content": None}
        for title, url, text in PAGES[: body["max_results"]]
    ]
    return sent({"query": body["query"], "follow_up_questions": None, "answer": None, "results": found})


def tool(tmp_path: Path, environ: Mapping[str, str] | None = None, **settings: Any) -> WebSearchTool:
    return WebSearchTool(tmp_path, lambda: WebSearch(**settings), environ or {})


def results(asked: WebSearchTool, **args: Any) -> list[Json]:
    found: list[Json] = asked.invoke("web_search", {"query": "zig language", **args}, tool_run())["results"]
    return found


def failure(asked: WebSearchTool, **args: Any) -> tuple[str, str]:
    with pytest.raises(ToolError) as caught:
        results(asked, **args)
    assert KEY not in caught.value.message
    return caught.value.code, caught.value.message


PEERS = {"searxng": searxng, "brave": brave, "tavily": tavily}


@pytest.mark.parametrize("name", list(PEERS))
def test_each_backend_finds_what_its_service_answers(tmp_path: Path, peer: Callable[..., Peer], name: str) -> None:
    there = peer(PEERS[name])
    path = "/search" if name == "tavily" else "/res/v1/web/search" if name == "brave" else ""
    asked = tool(tmp_path, {"BRAVE_API_KEY": KEY, "TAVILY_API_KEY": KEY}, backend=name, url=there.url + path)
    found = results(asked, limit=3)
    assert [(page["title"], page["url"]) for page in found] == [page[:2] for page in PAGES[:3]]
    snippet = "about 0 & more" if name == "brave" else "about 0"
    assert found[0] == {"title": "Page 0", "url": "https://example.org/0", "snippet": snippet}
    assert len(results(asked)) == 10
    assert len(results(asked, limit=50)) == (30 if name == "searxng" else 20)
    assert results(asked, limit=0) == []
    assert len(there.asked) == 3  # for nothing, nobody is asked


@pytest.mark.parametrize(("name", "code"), [("brave", "unauthorized"), ("tavily", "unauthorized")])
def test_a_wrong_key_is_told_without_the_key(tmp_path: Path, peer: Callable[..., Peer], name: str, code: str) -> None:
    there = peer(PEERS[name])
    asked = tool(
        tmp_path, {"BRAVE_API_KEY": "wrong", "TAVILY_API_KEY": "wrong"}, backend=name, url=f"{there.url}/search"
    )
    found = failure(asked)
    assert found[0] == code
    assert "wrong" not in found[1]


def test_a_peer_that_repeats_the_key_does_not_bring_it_into_the_message(
    tmp_path: Path, peer: Callable[..., Peer]
) -> None:
    there = peer(lambda *asked: sent({"detail": {"error": f"bad key {KEY}"}}, 401))
    code, message = failure(tool(tmp_path, {"TAVILY_API_KEY": KEY}, backend="tavily", url=there.url))
    assert (code, message) == ("unauthorized", "tavily answered 401: the key was not accepted: bad key ***")


@pytest.mark.parametrize(
    ("reply", "code", "words"),
    [
        (sent({"detail": {"error": "slow down"}}, 429, Retry_After="7"), "rate_limited", "429: too many.*again in 7 s"),
        (sent({"detail": {"error": "exceeds your plan"}}, 432), "rate_limited", "432.*plan"),
        ((403, {"Content-Type": "text/html"}, b"<h1>Forbidden"), "forbidden", "403.*search.formats"),
        ((302, {"Location": "http://elsewhere/"}, b""), "http_error", "302: it redirects"),
        ((500, {}, b"boom"), "http_error", "500: Internal Server Error"),
        ((200, {"Content-Type": "text/html"}, b"<html>hello"), "bad_answer", r"no JSON \(text/html\)"),
        ((200, {}, b"[" * 100_000), "bad_answer", "no JSON"),
        (sent([1]), "bad_answer", "no JSON object"),
        (sent({"results": {"a": 1}}), "bad_answer", "without a list"),
        ((200, {}, b" " * (MOST + 1)), "too_large", "more than 2 MiB"),
        ((200, {"Content-Encoding": "gzip"}, gzip.compress(b" " * (MOST * 4))), "too_large", "more than 2 MiB"),
        ((200, {"Content-Encoding": "gzip"}, b"not gzip"), "bad_answer", "damaged gzip"),
        (sent({"results": [], "unresponsive_engines": [["google", "timeout"]]}), "no_engine", "google"),
    ],
)  # fmt: skip
def test_every_way_to_fail_is_told_apart(
    tmp_path: Path, peer: Callable[..., Peer], reply: Reply, code: str, words: str
) -> None:
    found = failure(tool(tmp_path, backend="searxng", url=peer(lambda *asked: reply).url))
    assert found[0] == code
    assert re.search(words, found[1]), found[1]


def test_packed_answers_are_unpacked(tmp_path: Path, peer: Callable[..., Peer]) -> None:
    def packed(*asked: Any) -> Reply:
        status, headers, data = searxng(*asked)
        return status, headers | {"Content-Encoding": "gzip"}, gzip.compress(data)

    assert len(results(tool(tmp_path, backend="searxng", url=peer(packed).url))) == 10


def test_hostile_entries_are_passed_over_and_markup_is_taken_out(tmp_path: Path, peer: Callable[..., Peer]) -> None:
    entries: list[Any] = [
        7, {}, {"url": "javascript:alert(1)"}, {"url": "file:///etc/passwd"}, {"url": "https://a\nb"}, {"url": None},
        {"url": "https://ok.example/", "title": None, "content": "<script>x</script> a < b &lt;i&gt;\n" + "y" * 9_000},
    ]  # fmt: skip
    found = results(tool(tmp_path, backend="searxng", url=peer(lambda *asked: sent({"results": entries})).url))
    assert [page["url"] for page in found] == ["https://ok.example/"]
    assert found[0]["title"] == "https://ok.example/"
    assert found[0]["snippet"].startswith("x a < b <i> yyy")
    assert len(found[0]["snippet"]) == 2_000


def _slow(data: bytes, pause: float) -> int:
    """A peer that sends byte by byte, for ever as far as anybody waits."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        line, _ = listener.accept()
        with line:
            try:
                line.recv(1 << 16)  # what is left unread would make the end a reset
                for byte in data:
                    line.sendall(bytes([byte]))
                    time.sleep(pause)
            except OSError:
                pass
        listener.close()

    threading.Thread(target=serve, daemon=True).start()
    port: int = listener.getsockname()[1]
    return port


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n"])
def test_a_peer_that_drips_is_given_up_after_the_whole_time(tmp_path: Path, head: bytes) -> None:
    port = _slow(head + b"x" * 5_000, 0.02 if not head else 0.005)
    found = failure(tool(tmp_path, backend="searxng", url=f"http://127.0.0.1:{port}", timeout_s=0.4))
    assert found == ("timeout", "searxng did not answer within 0.4 s")


def test_a_peer_that_is_not_there_or_speaks_no_http_is_named(tmp_path: Path) -> None:
    port = free_port()
    assert failure(tool(tmp_path, backend="searxng", url=f"http://127.0.0.1:{port}"))[0] == "unreachable"
    port = _slow(b"220 smtp.example ESMTP\r\n" * 5, 0)
    assert failure(tool(tmp_path, backend="searxng", url=f"http://127.0.0.1:{port}"))[0] == "bad_answer"


def test_a_call_that_is_stopped_does_not_wait(tmp_path: Path) -> None:
    port = _slow(b"x" * 5_000, 0.05)
    run = tool_run()
    threading.Timer(0.2, lambda: run.ask(Cause.CANCELLED)).start()
    with pytest.raises(ToolError) as caught:
        tool(tmp_path, backend="searxng", url=f"http://127.0.0.1:{port}").invoke("web_search", {"query": "a"}, run)
    assert caught.value.code == "cancelled"


def test_not_configured_names_the_key_and_the_backends_and_is_never_an_empty_success(tmp_path: Path) -> None:
    code, message = failure(tool(tmp_path))
    assert code == "not_configured"
    assert "webSearch.backend in the home's config.json" in message and str(tmp_path) not in message
    assert "searxng, brave, tavily, ddgs" in message


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"backend": "altavista"}, "no backend of web_search is called 'altavista'"),
        ({"backend": "searxng"}, "webSearch.url"),
        ({"backend": "searxng", "url": "ftp://x/"}, "no http"),
        ({"backend": "searxng", "url": "http://user:pw@x/"}, "no http"),
        ({"backend": "searxng", "url": "http://[::1"}, "no http"),
        ({"backend": "brave"}, "BRAVE_API_KEY"),
        ({"backend": "tavily"}, "TAVILY_API_KEY"),
        ({"backend": "ddgs"}, r"worldfs\[search\]"),
    ],
)
def test_what_is_configured_in_part_says_what_is_missing(tmp_path: Path, settings: Json, words: str) -> None:
    code, message = failure(tool(tmp_path, **settings))
    assert code == "not_configured"
    assert re.search(words, message), message
    assert "pw" not in message


def test_a_config_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    def broken() -> WebSearch:
        raise BadInput("no JSON at line 3", path="config.json")

    with pytest.raises(ToolError, match=r"config\.json: no JSON at line 3"):
        WebSearchTool(tmp_path, broken, {}).invoke("web_search", {"query": "a"}, tool_run())


def test_a_key_comes_from_a_file_that_only_its_owner_reads(tmp_path: Path, peer: Callable[..., Peer]) -> None:
    there = peer(tavily)
    file = tmp_path / "secrets"
    file.write_text(f"{KEY}\n")
    asked = tool(
        tmp_path, {"TAVILY_API_KEY": "other"}, backend="tavily", url=f"{there.url}/search", api_key_file="secrets"
    )
    file.chmod(0o644)
    code, message = failure(asked)
    assert code == "not_configured" and "chmod 600" in message
    file.chmod(0o600)
    assert len(results(asked)) == 10
    file.write_text("two\nlines")
    assert "one line of printable text" in failure(asked)[1]
    file.unlink()
    assert "No such file" in failure(asked)[1]


def test_a_key_may_come_from_a_variable_of_ones_own(tmp_path: Path, peer: Callable[..., Peer]) -> None:
    there = peer(tavily)
    asked = tool(tmp_path, {"MINE": KEY}, backend="tavily", url=f"{there.url}/search", api_key_env="MINE")
    assert len(results(asked)) == 10
    assert KEY not in repr(asked._made())


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"query": 123}, "web_search requires 'query'"),
        ({"query": " "}, "web_search requires 'query'"),
        ({"query": "x" * 2_001}, "web_search 'query' has more than 2000 characters"),
        ({"query": "x", "limit": -1}, "web_search 'limit' must be a non-negative integer"),
    ],
)
def test_arguments_are_checked_first(tmp_path: Path, args: Json, message: str) -> None:
    assert failure(tool(tmp_path), **args) == ("invalid_args", message)


def test_ddgs_is_asked_as_it_wants_to_be_and_its_errors_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library's surface: DDGS(timeout).text(query, max_results) gives title, href, body; it raises when empty."""
    asked: list[tuple[int, str, int]] = []

    class RatelimitException(Exception):
        pass

    class DDGS:
        def __init__(self, timeout: int) -> None:
            self.timeout = timeout

        def text(self, query: str, max_results: int) -> list[dict[str, str]]:
            asked.append((self.timeout, query, max_results))
            if query == "nothing":
                raise RuntimeError("No results found.")
            if query == "much":
                raise RatelimitException("202 Ratelimit")
            return [{"title": title, "href": url, "body": text} for title, url, text in PAGES]

    module = ModuleType("ddgs")
    module.DDGS = DDGS  # type: ignore[attr-defined]  # a double
    module.__spec__ = type(sys.__spec__)("ddgs", None)
    monkeypatch.setitem(sys.modules, "ddgs", module)
    mine = tool(tmp_path, backend="ddgs")
    assert results(mine, limit=2)[1] == {"title": "Page 1", "url": "https://example.org/1", "snippet": "about 1"}
    assert asked == [(10, "zig language", 2)]
    assert results(mine, query="nothing") == []
    assert failure(mine, query="much")[0] == "rate_limited"


MINE = """
from worldfs.world.services.web import SearchResult

class Mine:
    def __init__(self, settings):
        self.settings = settings

    def search(self, query, limit, run):
        return [SearchResult(query, self.settings.url, str(self.settings.more["depth"]))]
"""


def test_other_packages_bring_backends(tmp_path: Path, install: Callable[..., Path]) -> None:
    install("seeker", {"worldfs.web_search": {"mine": "seeker_mine:Mine"}}, seeker_mine=MINE)
    asked = tool(tmp_path, backend="mine", url="https://mine.example", more={"depth": 3})
    assert results(asked) == [{"title": "zig language", "url": "https://mine.example", "snippet": "3"}]
    assert list(search_backends.BACKENDS) == ["searxng", "brave", "tavily", "ddgs", "mine"]


def test_a_backend_that_cannot_be_imported_is_named(tmp_path: Path, install: Callable[..., Path]) -> None:
    install("seeker", {"worldfs.web_search": {"mine": "seeker_mine:Mine"}}, seeker_mine="import no_such_engine")
    code, message = failure(tool(tmp_path, backend="mine", url="", more={}))
    assert code == "not_configured" and "seeker 1.0: ModuleNotFoundError" in message


def test_a_result_that_repeats_the_key_does_not_bring_it_to_the_agent(
    tmp_path: Path, peer: Callable[..., Peer]
) -> None:
    def echo(peer: Peer, path: str, query: Mapping[str, list[str]], body: Json) -> Reply:
        said = f"you sent {peer.asked[-1][2]['authorization']}"
        return sent({"results": [{"title": said, "url": f"https://example.org/{KEY}", "content": said}]})

    one = tool(tmp_path, {"MINE": KEY}, backend="searxng", url=peer(echo).url, api_key_env="MINE")
    assert results(one) == [
        {"title": "you sent Bearer ***", "url": "https://example.org/***", "snippet": "you sent Bearer ***"}
    ]
