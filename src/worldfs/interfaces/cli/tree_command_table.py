"""The table of the commands on files of the tree."""

from __future__ import annotations

from .command_spec import ArgumentSpec, CommandSpec

_TREE_PATH = ArgumentSpec(("path",), "help.tree_path", "PATH", completes="tree")

TREE_COMMANDS: tuple[CommandSpec, ...] = (
    CommandSpec(
        "watch",
        "help.watch",
        "watch_command:run",
        (ArgumentSpec(("path",), "help.watch_path", "PATH", completes="tree", many="?", default=""),),
        remote="remote_commands:watch",
        reads=True,
    ),
    CommandSpec(
        "ls",
        "help.ls",
        "file_commands:ls",
        (
            ArgumentSpec(("path",), "help.ls_path", "PATH", "text", "tree", many="?", default=""),
            ArgumentSpec(("-l", "--long"), "help.ls_long", takes="switch"),
        ),
        remote="file_commands:ls",
        reads=True,
    ),
    CommandSpec(
        "walk",
        "help.walk",
        "file_commands:walk",
        (
            ArgumentSpec(("path",), "help.walk_path", "PATH", completes="tree", many="?", default="/"),
            ArgumentSpec(("--depth",), "help.walk_depth", "N", takes="count"),
        ),
        remote="file_commands:walk",
        reads=True,
    ),
    CommandSpec(
        "stat",
        "help.stat",
        "file_commands:stat",
        (_TREE_PATH._replace(many="+"),),
        remote="file_commands:stat",
        reads=True,
    ),
    CommandSpec(
        "cat",
        "help.cat",
        "file_commands:cat",
        (_TREE_PATH._replace(many="+"), ArgumentSpec(("--at",), "help.cat_at", "TIME")),
        "help.cat_more",
        remote="file_commands:cat",
        reads=True,
    ),
    CommandSpec(
        "log",
        "help.log",
        "history_commands:log",
        (_TREE_PATH, ArgumentSpec(("-n", "--number"), "help.log_number", "N", takes="count", default=20)),
        "help.log_more",
        remote="history_commands:log",
        reads=True,
    ),
    CommandSpec(
        "diff",
        "help.diff",
        "history_commands:diff",
        (
            _TREE_PATH,
            ArgumentSpec(("time",), "help.cat_at", "TIME"),
            ArgumentSpec(("other",), "help.diff_other", "TIME2", many="?", default=""),
        ),
        "help.diff_more",
        remote="history_commands:diff",
        reads=True,
    ),
    CommandSpec(
        "write",
        "help.write",
        "file_commands:write",
        (
            _TREE_PATH,
            ArgumentSpec(("source",), "help.write_source", "FILE", "text", "file", (), "-", "?"),
            ArgumentSpec(("--expect",), "help.write_expect", "REVISION"),
        ),
        remote="file_commands:write",
    ),
    CommandSpec(
        "rm",
        "help.rm",
        "tree_commands:rm",
        (_TREE_PATH._replace(many="+"), ArgumentSpec(("-r", "--recursive"), "help.recursive", takes="switch")),
        "help.rm_more",
        remote="tree_commands:rm",
    ),
    CommandSpec(
        "mkdir",
        "help.mkdir",
        "tree_commands:mkdir",
        (_TREE_PATH._replace(many="+"),),
        "help.mkdir_more",
        remote="tree_commands:mkdir",
    ),
    CommandSpec(
        "mv",
        "help.mv",
        "tree_commands:mv",
        (_TREE_PATH._replace(flags=("source",)), _TREE_PATH._replace(flags=("destination",))),
        "help.mv_more",
        remote="tree_commands:mv",
    ),
    CommandSpec(
        "cp",
        "help.cp",
        "tree_commands:cp",
        (
            _TREE_PATH._replace(flags=("source",), many="+"),
            _TREE_PATH._replace(flags=("destination",)),
            ArgumentSpec(("-r", "--recursive"), "help.recursive", takes="switch"),
        ),
        "help.cp_more",
        remote="tree_commands:cp",
    ),
    CommandSpec(
        "grep",
        "help.grep",
        "tree_commands:grep",
        (
            ArgumentSpec(("pattern",), "help.grep_pattern", "PATTERN"),
            _TREE_PATH._replace(many="*"),
            ArgumentSpec(("-i", "--ignore-case"), "help.grep_ignore_case", takes="switch"),
            ArgumentSpec(("-l", "--files"), "help.grep_files", takes="switch"),
        ),
        "help.grep_more",
        remote="tree_commands:grep",
        reads=True,
    ),
    CommandSpec(
        "wait",
        "help.wait",
        "file_commands:wait",
        (
            _TREE_PATH,
            ArgumentSpec(("--until",), "help.wait_until", "TEXT"),
            ArgumentSpec(("--timeout",), "help.wait_timeout", "SECONDS", takes="number"),
        ),
        remote="file_commands:wait",
        reads=True,
    ),
    CommandSpec(
        "sh",
        "help.sh",
        "sh_command:run",
        (ArgumentSpec(("-c", "--script"), "help.sh_script", "SCRIPT"),),
        "help.sh_more",
        remote="sh_command:run",
    ),
)
