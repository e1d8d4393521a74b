"""Copies of a whole store: from one engine to another, compared by hash."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from worldfs.base.errors import BadInput, Exists, UserError
from worldfs.storage.lease import KERNEL_LEASE
from worldfs.storage.store_interface import ABSENT, Store

LEFT_OUT: Final = (  # of one engine, or made again
    KERNEL_LEASE, ".paos/store.lock", ".paos/drafts", ".paos/trash", ".paos/displaced", ".paos/index", ".paos/engine",
    ".paos/store.json", ".paos/store-files.json",
)  # fmt: skip


class TransferReport(NamedTuple):
    """`copied`, `same`: how many files. `different`, `missing`: which of them the target has otherwise, or not. `odd`:
    links and what else is no file, which no store keeps."""

    copied: int = 0
    same: int = 0
    different: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    odd: tuple[str, ...] = ()

    @property
    def equal(self) -> bool:
        return not self.different and not self.missing and not self.odd


def keys_of(store: Store, prefix: str = "") -> Iterator[str]:
    """Every key that another engine shall have."""
    names = store.list(prefix)
    if not prefix:
        names = [*names, ".paos/"]  # a list of the root leaves it out
    for name in names:
        key = f"{prefix}/{name}" if prefix else name
        if key.rstrip("/") in LEFT_OUT or key.endswith(".lock"):
            continue
        if key.endswith("/"):
            yield from keys_of(store, key[:-1])
        else:
            yield key


def copy_store(source: Store, target: Store) -> TransferReport:
    """Create what the target lacks. What it has otherwise stays as it is, and is named."""
    copied = same = 0
    different, odd = [], []
    for key in keys_of(source):
        try:
            stored = source.get(key)
        except UserError:
            odd.append(key)
            continue
        if stored is None:
            continue
        try:
            target.put(key, stored.data, ABSENT)
            copied += 1
        except Exists:
            found = target.get(key)
            if found is not None and found.revision == stored.revision:
                same += 1
            else:
                different.append(key)
        except BadInput:  # a directory of that name
            different.append(key)
    return TransferReport(copied, same, tuple(different), odd=tuple(odd))


def compare_stores(source: Store, target: Store) -> TransferReport:
    """By hash, and both ways: `missing` names also what only the target has."""
    ours, theirs = set(keys_of(source)), set(keys_of(target))
    same, different = 0, []
    for key in sorted(ours & theirs):
        one, other = source.get(key), target.get(key)
        if one is not None and other is not None and one.revision == other.revision:
            same += 1
        else:
            different.append(key)
    return TransferReport(0, same, tuple(different), tuple(sorted(ours ^ theirs)))
