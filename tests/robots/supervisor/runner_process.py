"""A runner in a process of its own, to be stopped and killed: AGENTS BOUNDS(json) ARGV…; the end comes out as JSON."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

from worldfs.supervisor import CommandRequest, run

spec = importlib.util.spec_from_file_location("stage", Path(__file__).with_name("conftest.py"))
assert spec is not None and spec.loader is not None
stage = importlib.util.module_from_spec(spec)
sys.modules["stage"] = stage
spec.loader.exec_module(stage)


def main(agents: str, bounds: str, *argv: str) -> None:
    book = stage.Book(Path(agents))
    ended = run(book, CommandRequest(argv, **json.loads(bounds)), out=-1, err=-1, alone=True)
    print(
        json.dumps(
            {
                "outcome": ended.outcome,
                "cause": ended.cause,
                "errors": ended.errors,
                "status": ended.status,
                "found": [left.session for left in ended.found],
                "finished": book.finished["outcome"],
            }
        )
    )


main(*sys.argv[1:])
