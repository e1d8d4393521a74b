"""The names of a POSIX view: made, removed and renamed, in the tree or as scratch names."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.tree.row_table import FileKind

from .error_notes import LAST_ERROR
from .posix_entry import PosixEntry
from .posix_errors import refusal

if TYPE_CHECKING:
    from .posix_files import PosixFiles


async def mkdir(files: PosixFiles, path: str) -> PosixEntry:
    files.check_name(path)
    files.refuse_read_only(path)
    if await files.exists(path):
        raise refusal(errno.EEXIST, coded("tree.exists"), path, op="mkdir")
    await files.tree.mkdir(path)
    return await files.look(path)


async def symlink(files: PosixFiles, path: str, target: bytes) -> PosixEntry:
    """Only as a scratch name (the lock of an editor)."""
    files.check_name(path)
    files.refuse_read_only(path)
    if await files.exists(path):
        raise refusal(errno.EEXIST, coded("tree.exists"), path, op="symlink")
    row, exact = files.row(path)
    if exact or not await files.scratch_allowed(path, row):
        raise refusal(errno.EPERM, coded("posix.no_links"), path, op="symlink")
    made = files.scratch.create(path, link=True)
    made.write(0, target)
    return files.scratch_entry(path, made)


async def remove(files: PosixFiles, path: str, *, directory: bool = False) -> None:
    files.refuse_read_only(path)
    entry = await files.look(path)
    if directory != entry.directory:
        number = errno.ENOTDIR if directory else errno.EISDIR
        raise refusal(number, coded("tree.no_directory" if directory else "tree.is_directory"), path, op="remove")
    files.entries.pop(path, None)
    if entry.scratch is not None:
        files.scratch.remove(path)
        return
    if directory and await _holds_something(files, path):
        raise refusal(errno.ENOTEMPTY, coded("tree.not_empty"), path, op="remove")
    writers = files.staged.pop(path, [])
    if not any(writer.new for writer in writers):
        await files.tree.remove(path)
    if directory:
        files.errors.remove_from(path)
    for writer in writers:
        writer.dead = True


async def rename(files: PosixFiles, old: str, new: str, *, replace: bool = True) -> None:
    """A scratch file onto a known path is one atomic commit of its bytes there, by the rule of the kind."""
    files.check_name(new)
    files.refuse_read_only(old)
    source = await files.look(old)
    target = await files.look(new) if await files.exists(new) else None
    if target is not None and not replace:
        raise refusal(errno.EEXIST, coded("tree.exists"), new, op="rename")
    if old == new:
        return
    for path in (old, new):
        files.entries.pop(path, None)
    if source.scratch is not None:
        await _rename_scratch(files, source, target, new)
        return
    for writer in list(files.staged.get(old, ())):
        await writer.flush()
        if writer.new:
            await writer.close()
    if target is not None:
        await _rename_over(files, source, target)
        return
    row, exact = files.row(new)
    if exact and row is not None and row.kind is not FileKind.RECORD:
        raise refusal(errno.EACCES, coded("tree.fixed_names"), new, op="rename")
    try:
        await files.tree.rename(old, new)
    except BadInput as error:
        raise refusal(errno.EXDEV, error.found, new, op="rename", fix=error.fix) from None
    files.moved(old, new)


async def _rename_scratch(files: PosixFiles, source: PosixEntry, target: PosixEntry | None, new: str) -> None:
    scratch = source.scratch
    assert scratch is not None
    row, exact = files.row(new)
    to_scratch = target.scratch is not None if target is not None else not exact
    if to_scratch and (target is not None or await files.scratch_allowed(new, row)):
        files.scratch.rename(source.path, new)
        return
    if target is not None and target.directory:
        raise refusal(errno.EISDIR, coded("tree.is_directory"), new, op="rename")
    if scratch.link:
        raise refusal(errno.EPERM, coded("posix.no_links"), new, op="rename")
    kind = (target.kind if target is not None else None) or (row.kind if row is not None else FileKind.RECORD)
    if target is None:
        await files.tree.may_create(new)
    elif kind is FileKind.DROP:
        raise refusal(errno.EEXIST, coded("tree.exists"), new, op="rename")
    elif not target.writable:
        raise refusal(errno.EACCES, coded("tree.read_only"), new, op="rename")
    if kind is FileKind.LOG:
        raise refusal(errno.EPERM, coded("tree.append_only"), new, op="rename", fix=coded("posix.append"))
    await files.commit(new, kind, bytes(scratch.data))
    files.scratch.remove(source.path)


async def _rename_over(files: PosixFiles, source: PosixEntry, target: PosixEntry) -> None:
    """A file whose name may be taken away, onto another: the target is replaced at once, then the old name goes."""
    old, new = source.path, target.path
    row, _ = files.row(old)
    if target.directory != source.directory:
        number = errno.EISDIR if target.directory else errno.ENOTDIR
        raise refusal(number, coded("tree.is_directory"), new, op="rename")
    if source.directory:
        if await _holds_something(files, new):
            raise refusal(errno.ENOTEMPTY, coded("tree.not_empty"), new, op="rename")
        await files.tree.remove(new)
        await files.tree.rename(old, new)
        files.moved(old, new)
        return
    if row is None or not row.pattern.endswith("*}"):
        raise refusal(errno.EACCES, coded("tree.fixed_names"), old, op="rename", fix=coded("posix.use_cp"))
    if row.view:  # a node's own files: it replaces
        await files.tree.rename(old, new)
        return
    if not target.writable or target.scratch is not None:
        raise refusal(errno.EACCES, coded("tree.read_only"), new, op="rename")
    data, _ = await files.tree.read(old)
    mtime_ns = source.mtime_ns
    await files.commit(new, target.kind or FileKind.RECORD, data)
    await files.tree.touch(new, mtime_ns // 1_000_000)
    await files.tree.remove(old)


async def _holds_something(files: PosixFiles, directory: str) -> bool:
    """Whether anything is in a directory but the file that says what was refused there."""
    return any(name != LAST_ERROR for name, _ in await files.list(directory))
