"""`paos ls`, `walk`, `stat`, `cat`, `write` and `wait`: the verbs of the tree from a shell."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Final

from worldfs.base.dir_reader import WHOLE_MOST
from worldfs.base.errors import BadInput, UserError, WorldError
from worldfs.base.given_file import read_given_file
from worldfs.base.messages import coded
from worldfs.base.messages.message_rendering import error_message

from .command_context import CommandContext
from .command_output import columns
from .command_tree import DEPTH_MAX, CommandTree, Unread, open_tree
from .exits import DONE, MISUSE
from .history_commands import past_path

_CHAT: Final = re.compile(r"/agents/[^/]+/chat/control/input")  # a message there that says stop does the same
_STOP_FILE: Final = re.compile(r"/nodes/([^/]+)/stop")  # whatever is written there stops: the answer is that of `stop`
DECLARATIONS: Final = {"TARGETS.md": "targets", "SKILLS.md": "skills", "SESSIONS.md": "sessions"}

if TYPE_CHECKING:
    from collections.abc import Sequence

    from worldfs.tree.verb_values import Stat


def ls(context: CommandContext) -> int:
    with open_tree(context) as tree:
        path = tree.path_of(context["path"]) if context["path"] else "/"
        entries = _listed(tree, path) if context["path"] else _start(tree)
        listed = [_facts(tree, entry) for entry in entries]
    context.output.value({"path": path, "entries": listed})
    if context["long"]:
        rows = [(str(entry["rights"]), str(entry["kind"]), str(entry["name"])) for entry in listed]
        for line in columns(rows):
            context.output.line(line)
    else:
        for entry in listed:
            context.output.line(str(entry["name"]))
    return 0


def _listed(tree: CommandTree, path: str) -> Sequence[Stat]:
    """What is in a directory; a file lists as itself."""
    top = tree.stat(path)
    return tree.entries(path) if top.directory else [top]


def _start(tree: CommandTree) -> Sequence[Stat]:
    """Without a path: the files that may be called by their bare names, wherever in the tree they are."""
    found = {entry.name: entry for directory in reversed(tree.start()) for entry in tree.entries(directory)}
    return [found[name] for name in sorted(found)]


def _facts(tree: CommandTree, entry: Stat) -> dict[str, object]:
    facts: dict[str, object] = {
        "name": entry.name + ("/" if entry.directory else ""),
        "kind": _kind(entry),
        "readable": True,
        "writable": entry.writable,
        "rights": "rw" if entry.writable else "r-",
    }
    return {**facts, "size": entry.size} if tree.sized else facts


def _kind(entry: Stat) -> str:
    """A served tree does not tell the kinds of files apart."""
    return "directory" if entry.directory else str(entry.kind or "file")


def walk(context: CommandContext) -> int:
    with open_tree(context) as tree:
        depth, unread = context["depth"], Unread(context)
        most = DEPTH_MAX if depth is None else min(depth, DEPTH_MAX)
        for entry in tree.walk(tree.path_of(context["path"]), most, unread):
            text = entry.path.rstrip("/") + "/" if entry.directory else entry.path
            facts: dict[str, object] = {"path": entry.path, "kind": _kind(entry), "writable": entry.writable}
            context.output.report(text, {**facts, "size": entry.size} if tree.sized else facts)
    return MISUSE if unread else DONE


def stat(context: CommandContext) -> int:
    with open_tree(context) as tree:
        for name in context["path"]:
            entry = tree.stat(tree.path_of(name))
            facts = {
                "path": entry.path,
                "kind": "directory" if entry.directory else "file",
                "size": entry.size,
                "readable": True,
                "writable": entry.writable,
                "revision": entry.revision,  # a served tree has none
            }
            context.output.value(facts)
            for line in columns([(key, str(value)) for key, value in facts.items()]):
                context.output.line(line)
    return 0


def cat(context: CommandContext) -> int:
    with open_tree(context) as tree:
        for name in context["path"]:
            path = tree.path_of(name)
            if context["at"]:
                path = past_path(path, context["at"])
            data = tree.read(path, block=not context["at"])
            if context.output.json:
                context.output.value({"path": path, **_json_bytes(data)})
            else:
                context.output.write_file(data)
    return 0


def write(context: CommandContext) -> int:
    """Exit 1 if a robot that was stopped so has not confirmed that it stands."""
    given = context["path"]
    if given.startswith("/") and (stopped := _STOP_FILE.fullmatch(_resolved(given))):
        return _stop(context, stopped[1])
    data = _input_bytes(context)
    try:
        with open_tree(context) as tree:
            path = tree.path_of(given)
            if stopped := _STOP_FILE.fullmatch(_resolved(path)):  # a name without its directories
                return _stop(context, stopped[1])
            _check_declarations(context, path, data)
            done = tree.write(path, data, context["expect"] or "")
    except UserError:
        raise
    except WorldError as error:
        from worldfs.base.stop_words import is_stop

        chat = _CHAT.fullmatch(_resolved(given if given.startswith("/") else f"/{given}"))
        if not (chat and is_stop(data.decode(errors="replace"))):
            raise
        # The robots may have been told before the message could not be stored: a stop once more says what is known.
        context.output.notice(coded("command.paos", said=error_message(error)))
        return _stop(context)
    more = {"job": done.job, "result_path": done.result_path} if done.job else {"revision": done.revision}
    said = coded("command.bytes_written", path=path, n=done.n)
    if done.result_path:
        said = coded("command.bytes_answer", path=path, n=done.n, answer=done.result_path)
    elif done.job:
        said = coded("command.bytes_job", path=path, n=done.n, job=done.job)
    context.output.report(said, {"path": path, "bytes": done.n, **more})
    return 0


def _stop(context: CommandContext, node: str | None = None) -> int:
    from .stop_command import far_stop, stop

    return far_stop(context, *([] if node is None else [node])) if context["connect"] else stop(context, node)


def _resolved(path: str) -> str:
    """An absolute path as it is after the links of a project; the home need not be there."""
    from worldfs.tree.path import parse
    from worldfs.world.layout import behind_member_link

    return behind_member_link(parse(path))


def _check_declarations(context: CommandContext, path: str, data: bytes) -> None:
    """Raises `BadInput` for a document of which nothing can be read, so that the one of before stays. Of another one it
    says what is refused in it."""
    name = path.rpartition("/")[2]
    document = DECLARATIONS.get(name)
    if document is None:
        return
    from worldfs.base.messages.message_rendering import finding_message
    from worldfs.world.document_findings import document_findings

    try:
        findings = document_findings(document, data)
    except BadInput as error:
        error.path = path
        raise
    for finding in findings:
        if not finding.warning and finding.field == name:
            raise BadInput(finding.found, path=path, op="write", expected=finding.expected, fix=finding.fix)
        if not finding.warning:
            context.output.notice(coded("command.alert", said=finding_message(finding)))


def wait(context: CommandContext) -> int:
    """Exit 0 when the condition held, 1 after the timeout."""
    until, timeout = context["until"] or "", context["timeout"]
    with open_tree(context) as tree:
        path = tree.path_of(context["path"])
        happened = tree.wait(path, until, timeout)
    if happened:
        text = coded("command.contains", path=path) if until else coded("command.changed", path=path)
    elif until:
        text = coded("command.not_contained", path=path, s=timeout, text=until)
    else:
        text = coded("command.not_changed", path=path, s=timeout)
    context.output.report(text, {"path": path, "happened": happened}, "" if happened else "warn")
    return 0 if happened else 1


def _input_bytes(context: CommandContext) -> bytes:
    """The bytes to write: from a file, or standard input."""
    if context["source"] == "-":
        return sys.stdin.buffer.read()
    return read_given_file(context["source"], op="write", most=WHOLE_MOST)


def _json_bytes(data: bytes) -> dict[str, str]:
    try:
        return {"text": data.decode("utf-8")}
    except UnicodeDecodeError:
        from base64 import b64encode

        return {"base64": b64encode(data).decode("ascii")}
