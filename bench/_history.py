"""A long past: workspaces with many finished jobs and many lessons."""

from __future__ import annotations

from pathlib import Path

JOBS = 10_000
LESSONS = 1_000


def add_history(workspace: Path) -> None:
    """As if it had all happened; written without fsync, for it is a bench's to lose."""
    from worldfs.base.model import JobState, JobStatus, Order, Outcome
    from worldfs.runtime.job_codec import order_line, status_line
    from worldfs.runtime.job_store import done_key

    for number in range(JOBS):
        at = f"2026-01-{1 + number // 500:02d}T{number // 60 % 24:02d}:{number % 60:02d}:00Z"
        order = Order(f"old_{number}", "r0", "move_to", {"target_pose": [0.4, 0, 0.5, 0, 0, 0]}, at)
        status = JobStatus(JobState.SUCCEEDED, 1, at, at, at, "", Outcome.success("done", steps=12))
        place = workspace / done_key(order.id)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(order_line(order, at) + status_line(status))
    lessons = "".join(
        f"## 2026-01-{1 + number % 28:02d} 10:00:00 — Lesson {number}\n"
        f"- **Action**: pick_up thing_{number}\n- **Reason**: it lay {number} mm out of reach\n"
        f"- **Critic Rejection**: the reach of the arm is 0.855 m\n- **Fix**: bring thing_{number} nearer\n\n"
        for number in range(LESSONS)
    )
    (workspace / "LESSONS.md").write_text("# Lessons\n\n" + lessons)
