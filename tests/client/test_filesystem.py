"""acheron:// for whatever stands on fsspec, over a tiny server in a thread of its own."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

fsspec = pytest.importorskip("fsspec")

from worldfs.client.filesystem import AcheronFileSystem  # noqa: E402 -- only where fsspec is

from .far import INPUT, TOKEN, Far, far_thread  # noqa: E402 -- as above

INVOKE = "/agents/self/memory/control/invoke.json"


@pytest.fixture
def far() -> Iterator[Far]:
    far = Far()
    far.files["/nodes/n/fs/big.bin"] = bytes(range(256)) * 8000  # 2 MB: several frames, several blocks
    far.files["/nodes/n/fs/notes.txt"] = b"one\ntwo\n"
    far.writable |= {"/nodes/n/fs/big.bin", "/nodes/n/fs/notes.txt"}
    with far_thread(far):
        yield far


@pytest.fixture
def fs(far: Far) -> Iterator[AcheronFileSystem]:
    fsspec.register_implementation("acheron", AcheronFileSystem, clobber=True)
    found = fsspec.filesystem("acheron", url=far.url, token=TOKEN, skip_instance_cache=True)
    yield found
    found.close()


def test_the_package_announces_the_file_system() -> None:
    project = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text())
    specs = project["project"]["entry-points"]["fsspec.specs"]
    module, _, name = specs["acheron"].partition(":")
    assert (module, name) == (AcheronFileSystem.__module__, AcheronFileSystem.__name__)


def test_directories_are_listed_with_kinds_and_sizes(fs: AcheronFileSystem) -> None:
    assert fs.ls("/", detail=False) == ["/README.md", "/agents", "/meta", "/nodes"]
    found = {entry["name"]: entry for entry in fs.ls("/nodes/n/fs")}
    assert found["/nodes/n/fs/notes.txt"]["size"] == 8
    assert found["/nodes/n/fs/notes.txt"]["type"] == "file"
    assert fs.info("/nodes")["type"] == "directory"
    assert fs.ls("/README.md", detail=False) == ["/README.md"]
    assert fs.isdir("/nodes") and fs.isfile("/README.md") and not fs.exists("/nope")
    with pytest.raises(FileNotFoundError):
        fs.info("/nope")


def test_find_glob_and_walk_see_the_tree(fs: AcheronFileSystem, far: Far) -> None:
    assert fs.find("/") == sorted(far.files)
    assert fs.glob("/nodes/*/fs/*.txt") == ["/nodes/n/fs/notes.txt"]
    assert fs.glob("/**/README.md") == ["/README.md", "/nodes/README.md"]
    assert [root for root, _, _ in fs.walk("/meta")] == ["/meta"]
    assert fs.du("/nodes/n/fs") == 8 + 256 * 8000


def test_files_are_read_whole_in_ranges_and_in_blocks(fs: AcheronFileSystem, far: Far) -> None:
    whole = far.files["/nodes/n/fs/big.bin"]
    assert fs.cat_file("/nodes/n/fs/notes.txt") == b"one\ntwo\n"
    assert fs.cat_file("/nodes/n/fs/notes.txt", 2, 5) == b"e\nt"
    assert fs.cat_file("/nodes/n/fs/notes.txt", -4) == b"two\n"
    assert fs.cat_file("/nodes/n/fs/big.bin") == whole
    with fs.open("/nodes/n/fs/big.bin", "rb", block_size=100_000) as file:
        assert file.read(10) == whole[:10]
        file.seek(1_500_000)
        assert file.read(1000) == whole[1_500_000:1_501_000]
        file.seek(-5, 2)
        assert file.read() == whole[-5:]
    with fs.open("/nodes/n/fs/notes.txt", "r") as text:
        assert text.readlines() == ["one\n", "two\n"]
    assert fs.cat(["/README.md", "/meta/protocol.json"])["/README.md"] == b"# Far\n"
    with pytest.raises(IsADirectoryError):
        fs.open("/nodes")


def test_an_open_file_keeps_the_bytes_of_its_opening(fs: AcheronFileSystem, far: Far) -> None:
    with fs.open("/README.md", "rb") as file:
        far.files["/README.md"] = b"# Something else, and longer\n"
        assert file.read() == b"# Far\n"


def test_a_control_is_written_once_whole_when_it_is_closed(fs: AcheronFileSystem, far: Far) -> None:
    payload = {"tool_name": "memory_search", "arguments": {"query": "x" * 1000}}
    with fs.open(INVOKE, "wb", block_size=100) as file:
        for piece in json.dumps(payload).encode().split(b" "):
            file.write(piece + b" ")
            file.flush()
        assert "acheron.t_write" not in far.types()
    assert far.types().count("acheron.t_write") == 1
    assert json.loads(far.files[INVOKE]) == payload
    fs.pipe_file(INPUT, b"hello")
    with fs.open(INPUT, "w") as text:
        text.write("hello")


def test_a_plain_file_is_appended_to_and_made_longer_but_not_shorter(fs: AcheronFileSystem, far: Far) -> None:
    with fs.open("/nodes/n/fs/notes.txt", "ab") as file:
        file.write(b"three\n")
    assert far.files["/nodes/n/fs/notes.txt"] == b"one\ntwo\nthree\n"
    with pytest.raises(OSError, match="shorter"):
        fs.pipe_file("/nodes/n/fs/notes.txt", b"x")
    fs.pipe_file("/nodes/n/fs/notes.txt", b"a text that is longer")
    assert fs.cat_file("/nodes/n/fs/notes.txt") == b"a text that is longer"
    with pytest.raises(OSError, match="append"), fs.open(INVOKE, "ab") as file:
        file.write(b"{}")


def test_what_the_protocol_has_no_word_for_is_refused(fs: AcheronFileSystem) -> None:
    for forbidden in (
        lambda: fs.rm_file("/README.md"),
        lambda: fs.mkdir("/new"),
        lambda: fs.pipe_file("/README.md", b"x"),
        lambda: fs.open("/README.md", "wb"),
        lambda: fs.open("/README.md", "xb"),
        lambda: fs.pipe_file("/nope", b"x"),
    ):
        with pytest.raises(OSError):
            forbidden()


def test_a_url_names_the_server_and_the_path(fs: AcheronFileSystem, far: Far) -> None:
    with fsspec.open(f"acheron://127.0.0.1:{far.port}/meta/protocol.json", token=TOKEN) as file:
        assert json.load(file) == {"version": "acheron-1"}
    found, path = fsspec.url_to_fs("acheron:///meta/protocol.json", server=far.url, token=TOKEN)
    assert path == "/meta/protocol.json" and found.cat_file(path)
    assert AcheronFileSystem._get_kwargs_from_urls("acherons://h:1/x") == {"server": "wss://h:1"}


def test_a_connection_that_went_is_made_again(fs: AcheronFileSystem, far: Far) -> None:
    assert fs.exists("/README.md")
    for socket in far.connections:
        socket.loop.call_soon_threadsafe(socket.transport.abort)
    assert fs.cat_file("/README.md") == b"# Far\n"


def test_a_wrong_token_is_a_permission_error(far: Far) -> None:
    refused = fsspec.filesystem("acheron", url=far.url, token="wrong", skip_instance_cache=True)
    with pytest.raises(PermissionError):
        refused.ls("/")


def test_pandas_opens_a_path(fs: AcheronFileSystem, far: Far) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed; it opens acheron:// through fsspec")
    far.files["/meta/rows.json"] = b'[{"a":1},{"a":2}]'
    frame = pandas.read_json("acheron:///meta/rows.json", storage_options={"server": far.url, "token": TOKEN})
    assert list(frame["a"]) == [1, 2]


def test_duckdb_opens_a_path(fs: AcheronFileSystem, far: Far) -> None:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed; it reads from registered fsspec systems")
    far.files["/meta/rows.csv"] = b"a\n1\n2\n"
    base = duckdb.connect()
    base.register_filesystem(fs)
    assert base.sql("select sum(a) from 'acheron:///meta/rows.csv'").fetchone() == (3,)
