"""The pages that are computed from the product: `write` them, or `check` that they are what they would be."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))


def pages() -> dict[Path, str]:
    """Every generated page and what it should say."""
    from worldfs.world import protocol_pages

    return {
        **{ROOT / "docs/protocol" / name: text for name, text in protocol_pages.pages().items()},
        ROOT / "docs/command.md": command_page(),
        **schemas(),
    }


def schemas() -> dict[Path, str]:
    """The JSON Schemas of an agent's files."""
    from worldfs.formats.agent.json_schemas import SCHEMAS

    return {
        ROOT / f"docs/schema/{name}.json": json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"
        for name, schema in SCHEMAS.items()
    }


def command_page() -> str:
    """The command, as its table declares it."""
    from worldfs.interfaces.cli.command_table import COMMANDS, GLOBAL
    from worldfs.interfaces.cli.exits import CODES
    from worldfs.interfaces.cli.help_pages import help_text

    lines = [
        "# The command `paos`",
        "",
        "Computed from `worldfs/interfaces/cli/command_table.py`.",
        "",
        "## Everywhere",
        "",
    ]
    lines += _table(GLOBAL)
    lines += ["", "## Exit codes", "", "| code | what happened |", "|---|---|"]
    lines += [f"| {code} | {text} |" for code, text in CODES.items()]
    for command in COMMANDS:
        about = help_text(command.help)
        lines += ["", f"## paos {command.name}", "", f"{about[0].upper()}{about[1:]}."]
        if command.more:
            lines += ["", help_text(command.more)]
        if command.arguments:
            lines += ["", *_table(command.arguments)]
    return "\n".join(lines) + "\n"


def _table(arguments: object) -> Iterator[str]:
    from worldfs.interfaces.cli.help_pages import help_text

    yield "| argument | what it is |"
    yield "|---|---|"
    for argument in arguments:  # type: ignore[attr-defined]  # a tuple of Argument
        names = ", ".join(f"`{flag}`" for flag in argument.flags)
        value = argument.metavar or " or ".join(argument.choices)
        shown = f"{names} `{value}`" if value and not argument.positional else names
        yield f"| {shown} | {help_text(argument.help).replace('|', chr(92) + '|')} |"


def main(what: str) -> int:
    if what not in ("write", "check"):
        print(f"docs: found {what!r}, expected write or check", file=sys.stderr)
        return 2
    stale = [(page, text) for page, text in pages().items() if not page.exists() or page.read_text("utf-8") != text]
    for page, text in stale:
        if what == "write":
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(text, "utf-8")
        print(f"docs: {'written' if what == 'write' else 'not fresh'}: {page.relative_to(ROOT)}")
    if stale and what == "check":
        print("docs: 'make docs' writes them anew", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "check"))
