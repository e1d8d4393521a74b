"""docs/tour-agents.md, run as it stands by a shell in a fresh home."""

from __future__ import annotations

import re
from pathlib import Path

from worldfs.testing import pages

ROOT = Path(__file__).resolve().parents[2]


def test_the_tour_says_what_the_page_promises(tmp_path: Path) -> None:
    begun, ran, known, spoilt, brought, scripts, away, plan, rest = pages.run(
        ROOT / "docs/tour-agents.md", tmp_path, source=ROOT / "src"
    )
    assert re.search(r"^rio +idle .* 0\+1 +1 \(1 high\)", begun, re.M)
    assert " completed\n" in ran and "task-001  completed  high  research" in ran
    assert "no letter" in ran and "Re: Check MetaDAO" in ran and '"event": "session_end"' in ran
    assert "治理代币" in known and "[pinned] @0xfbifemboy" in known
    assert "NOT_JSON" in spoilt and "check says: 1" in spoilt and "mended" in spoilt and "task-001  completed" in spoilt
    assert "Futarchy evidence" in brought or "1 task" in brought
    assert "a second one: 2" in scripts and " completed\n" in scripts and "the script died" in scripts
    assert "back with: paos agent restore theseus" in away and "theseus is back" in away
    assert re.search(r"^ *\d+\.\d  rio", plan, re.M) and re.search(r"^ *\d+\.\d  theseus", plan, re.M)
    assert rest == ""
    assert list((tmp_path / ".PhyAgentOS/agents/rio/.paos/aside").glob("*tasks.json"))
