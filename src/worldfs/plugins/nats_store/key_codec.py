"""Keys of a store as subjects of NATS, one to one.

A subject's levels are separated by dots and may hold A-Z a-z 0-9 - _ = /; a key has slashes and any text. Each name of
a key is one level, in which every other byte of its UTF-8 form is `=XX`. What the store itself keeps begins with a
level that no name becomes: `=D` marks an empty directory, `=L` a lease.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from worldfs.base.dir_reader import check_path
from worldfs.base.errors import BadInput, UserError
from worldfs.base.messages import coded

SUBJECT_MAX: Final = 2000  # bytes; at 4,200 a server of 2.15 closes the connection
KNOWN: Final = 4096  # of each direction: a process works on few keys at a time
DIRECTORY: Final = "=D"  # the last level of an empty directory's mark
LEASE: Final = "=L"  # the first level of a lease's subject

_ESCAPED: Final = re.compile(rb"[^A-Za-z0-9_-]")
_ESCAPE: Final = re.compile(r"=([0-9A-F]{2})")


def encode_key(key: str, *, op: str = "") -> str:
    """The subject's levels of a key. Raises `Unsafe`, or `BadInput`: also for one too long for a subject."""
    try:
        return _encoded(key)
    except UserError as error:
        error.op = op
        raise


@lru_cache(KNOWN)
def _encoded(key: str) -> str:
    check_path(key)
    try:
        data = key.encode()
    except UnicodeEncodeError:
        raise BadInput(coded("tree.name_no_utf8"), path=repr(key)) from None
    levels = b".".join(_ESCAPED.sub(_escape, name) for name in data.split(b"/")).decode()
    if len(levels) > SUBJECT_MAX:
        found, expected = coded("engine.key_bytes", size=len(levels)), coded("common.at_most", n=SUBJECT_MAX)
        raise BadInput(found, path=key, expected=expected)
    return levels


@lru_cache(KNOWN)
def decode_key(levels: str) -> str | None:
    """The key of a subject's levels; None: they are those of no key."""
    names = []
    for level in levels.split("."):
        text = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), level)
        try:
            names.append(text.encode("latin-1").decode())
        except UnicodeError:
            return None
    key = "/".join(names)
    try:
        return key if encode_key(key) == levels else None
    except UserError:
        return None


def _escape(found: re.Match[bytes]) -> bytes:
    return b"=%02X" % found[0][0]
