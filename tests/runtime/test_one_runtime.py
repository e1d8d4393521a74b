"""What a job becomes is written in one place: a second runtime would begin with a second write of a status."""

from __future__ import annotations

import re
from pathlib import Path

SRC = Path(__file__).resolve().parents[2] / "src/worldfs"
# Modules that write a status, or end a job, and why.
WRITERS = {
    "runtime/job_store.py": "the write itself",
    "runtime/dispatch.py": "an attempt",
    "runtime/job_recovery.py": "what a start finds",
    "runtime/open_jobs.py": "a job that does not run",
    "runtime/kernel.py": "hands the store's `end` to its dispatcher, and ends what is not admitted",
    "world/agent_jobs/agent_runtime.py": "hands its own `end` to its dispatcher, and ends what the disk refused",
    "agents/session_job.py": "a session, whose end is committed by its journal first",
}
_WRITE = re.compile(r"\.write_status\(|\bjobs\.end\b|\._jobs\.end\(|\.open\.end\(|dispatch\.end\b")


def writers(root: Path) -> set[str]:
    core = (path for path in root.rglob("*.py") if not path.is_relative_to(root / "testing"))
    return {str(path.relative_to(root)) for path in core if _WRITE.search(path.read_text("utf-8"))}


def test_only_the_runtime_writes_what_becomes_of_a_job() -> None:
    assert writers(SRC) == set(WRITERS)


def test_a_second_writer_is_seen(tmp_path: Path) -> None:
    (tmp_path / "second.py").write_text("def finish(jobs, id, status):\n    jobs.write_status(id, status)\n")
    assert writers(tmp_path) == {"second.py"}
