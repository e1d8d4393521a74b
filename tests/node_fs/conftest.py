"""A directory to export, with a little in it and something outside."""

import pytest

from worldfs.plugins.node_fs.directory_source import DirectorySource


@pytest.fixture
def work(tmp_path):
    work = tmp_path / "work"
    (work / "sub").mkdir(parents=True)
    (work / "a.txt").write_bytes(b"file A\n")
    (work / "sub" / "b.txt").write_bytes(b"file B\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_bytes(b"not yours")
    return work


@pytest.fixture
def source(work):
    source = DirectorySource("work", str(work))
    yield source
    source.close()
