"""`paos store`: the whole state of a home, copied from one engine to another and compared by hash."""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded

from .command_context import CommandContext
from .exits import DONE, REFUSED

if TYPE_CHECKING:
    from worldfs.storage.store_interface import Store
    from worldfs.world.store_transfer import TransferReport


def export(context: CommandContext) -> int:
    """Exit 0 when the directory holds all of it, 1 when something there is otherwise."""
    from worldfs.world.store_transfer import copy_store

    with ExitStack() as stack:
        store, other = _both(context, stack, make=True)
        return _said(context, copy_store(store, other), "command.store_copied")


def take_in(context: CommandContext) -> int:
    """Exit 0 when the engine holds all of the directory, 1 when something in it is otherwise."""
    from worldfs.world.store_transfer import copy_store

    with ExitStack() as stack:
        store, other = _both(context, stack)
        return _said(context, copy_store(other, store), "command.store_copied")


def verify(context: CommandContext) -> int:
    """Exit 0 when both hold the same, 1 when they differ."""
    from worldfs.world.store_transfer import compare_stores

    with ExitStack() as stack:
        store, other = _both(context, stack)
        return _said(context, compare_stores(store, other), "command.store_compared")


def _both(context: CommandContext, stack: ExitStack, *, make: bool = False) -> tuple[Store, Store]:
    """The store of the home and that of a directory, which no kernel uses meanwhile. Raises `Busy`."""
    from worldfs.base.durable import Root
    from worldfs.storage.lease import KERNEL_LEASE
    from worldfs.storage.open_store import open_store
    from worldfs.world.workspace_engine import open_engine

    workspace, directory = context.workspace, Path(context["directory"]).expanduser().absolute()
    if directory == workspace or workspace in directory.parents or directory in workspace.parents:
        found = coded("command.store_same", path=str(directory))
        raise BadInput(found, op=context["command"], expected=coded("command.store_other"))
    if make:
        Root.build(directory)
    store = stack.enter_context(closing(open_engine(workspace)))
    stack.enter_context(store.lease(KERNEL_LEASE, context["command"]))
    other = stack.enter_context(closing(open_store("disk", directory)))
    stack.enter_context(other.lease(KERNEL_LEASE, context["command"]))
    return store, other


def _said(context: CommandContext, report: TransferReport, code: str) -> int:
    wrong = [*report.different, *report.missing, *report.odd]
    value = {"copied": report.copied, "same": report.same, "different": list(report.different)}
    value["missing"] = list(report.missing)
    value["skipped"] = list(report.odd)
    context.output.report(coded(code, copied=report.copied, same=report.same), value, "warn" if wrong else "good")
    for name in report.different:
        context.output.notice(coded("command.store_different", path=name))
    for name in report.missing:
        context.output.notice(coded("command.store_missing", path=name))
    for name in report.odd:
        context.output.notice(coded("command.store_odd", path=name))
    return REFUSED if wrong else DONE
