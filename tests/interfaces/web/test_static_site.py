"""The page's files over plain HTTP: what is sent, what is not, and that nothing outside the folder can be had."""

import gzip
import hashlib
import re
from pathlib import Path

import pytest
from websockets.datastructures import Headers
from websockets.http11 import Request

from worldfs.interfaces.web.static_site import STATIC, StaticSite

SITE = StaticSite()


def ask(path, method="GET", **headers):
    given = Headers({name.replace("_", "-"): value for name, value in headers.items()})
    return SITE.page(Request(path, given, method))


def test_the_root_is_the_page_with_a_strict_policy():
    page = ask("/")
    assert page.status_code == 200 and page.headers["Content-Type"] == "text/html; charset=utf-8"
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "*" not in policy
    assert page.headers["X-Content-Type-Options"] == "nosniff" and page.headers["Referrer-Policy"] == "no-referrer"
    inline = re.search(rb'<script type="importmap">(.*?)</script>', page.body, re.S)[1]
    import base64

    assert base64.b64encode(hashlib.sha256(inline).digest()).decode() in policy


def test_whatever_a_browser_may_show_by_itself_has_the_policy_and_its_parts_are_never_taken_for_it():
    for path in STATIC.rglob("*"):
        if path.is_file():
            page = ask("/" + path.relative_to(STATIC).as_posix())
            assert page.headers["X-Content-Type-Options"] == "nosniff"
            part = page.headers["Content-Type"].split(";")[0] in ("text/javascript", "text/css", "image/png")
            assert part or page.headers["Content-Security-Policy"] == ask("/").headers["Content-Security-Policy"]


def test_every_file_has_its_type_and_a_validator():
    for path in STATIC.rglob("*"):
        if path.is_file():
            name = "/" + path.relative_to(STATIC).as_posix()
            page = ask(name)
            assert page is not None, f"{name} is not served"
            assert page.body == path.read_bytes()
            again = ask(name, If_None_Match=page.headers["ETag"])
            assert again.status_code == 304 and not again.body


def test_gzip_is_sent_to_those_that_accept_it():
    packed = ask("/app.js", Accept_Encoding="br, gzip;q=0.8")
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.body) == ask("/app.js").body
    assert "Content-Encoding" not in ask("/app.js", Accept_Encoding="gzip;q=0").headers


@pytest.mark.parametrize(
    "path",
    [
        "/../static_site.py", "/vendor/../../static_site.py", "/%2e%2e/static_site.py", "//etc/passwd", "/app.js/",
        "/vendor", "/app.js%00", "/.", "/\\..\\static_site.py", "/APP.JS", "/static/app.js", "/vendor/",
    ],
)  # fmt: skip
def test_no_path_leads_out(path):
    assert ask(path) is None


def test_links_below_the_folder_are_not_followed(tmp_path):
    (tmp_path / "index.html").write_text('<script type="importmap">{}</script>')
    (tmp_path / "secret.js").symlink_to(Path(__file__))
    site = StaticSite(tmp_path)
    assert site.page(Request("/secret.js", Headers())) is None
    (tmp_path / "later.js").write_text("")
    assert site.page(Request("/later.js", Headers())) is None


def test_a_head_has_no_body_and_other_methods_are_refused():
    assert ask("/app.js", "HEAD").body == b"" and int(ask("/app.js", "HEAD").headers["Content-Length"]) > 0
    assert ask("/app.js", "POST").status_code == 405


def test_an_upgrade_is_for_the_websocket_side():
    assert ask("/", Upgrade="websocket") is None
