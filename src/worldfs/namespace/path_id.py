"""The numeric id of a path in a served tree."""

from __future__ import annotations

from typing import Final

from worldfs.storage.revision import blake2b  # type: ignore[attr-defined] # hashlib's, without loading OpenSSL

ROOT_ID: Final = 1


def path_id(path: str) -> int:
    """A number for a path that is the same in every process, below 2**53; the root's is 1."""
    if path == "/":
        return ROOT_ID
    digest = blake2b(path.encode("utf-8", "surrogatepass"), digest_size=7).digest()
    return max(ROOT_ID + 1, int.from_bytes(digest, "big") >> 3)
