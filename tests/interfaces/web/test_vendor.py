"""The vendored libraries are the published files: their hashes, their licences, and nothing besides."""

import hashlib
import json
import re

from worldfs.interfaces.web.static_site import STATIC, StaticSite

VENDOR = STATIC / "vendor"


def test_every_file_has_the_listed_hash():
    listed = dict(reversed(line.split("  ")) for line in (VENDOR / "SHA256SUMS").read_text().splitlines())
    there = {
        f"./{path.relative_to(VENDOR).as_posix()}": hashlib.sha256(path.read_bytes()).hexdigest()
        for path in VENDOR.rglob("*")
        if path.is_file() and path.name not in ("SHA256SUMS", "README.md")
    }
    assert there == listed


def test_every_library_has_its_licence():
    assert {path.parent.name for path in VENDOR.rglob("LICENSE")} == {
        path.name for path in VENDOR.iterdir() if path.is_dir()
    }


def test_the_import_map_leads_to_files():
    text = re.search(r'<script type="importmap">(.*?)</script>', (STATIC / "index.html").read_text(), re.S)[1]
    for name, path in json.loads(text)["imports"].items():
        assert (STATIC / path).exists(), name


def test_the_page_is_small():
    assert StaticSite().gzip_bytes() <= 350 * 1024
