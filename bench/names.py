"""What names in sentences mean: 4,000 generated sentences with known truth, judged at the level of submitted orders.

`python -m worldfs.testing.naming --seed 500` prints the failures of the same seed.
"""

from __future__ import annotations

import time

FIGURES = ("names.right", "names.needless", "names.wrong", "names.untrue", "names.sentences_per_s")
SEED, SENTENCES, TIMED = 500, 4_000, 400


def run() -> dict[str, float]:
    """Shares of all sentences, `names.wrong` as a count; sentences a second of one core."""
    from worldfs.testing.naming import Verdict, tally

    tally(SEED, range(20), workers=0)  # what is loaded once
    began = time.process_time()
    tally(SEED, range(TIMED), workers=0)
    spent = time.process_time() - began
    found = tally(SEED, range(SENTENCES))
    for line in found.lines():
        print(f"  {line}", flush=True)
    return {
        "names.right": found.share(Verdict.RIGHT),
        "names.needless": found.share(Verdict.NEEDLESS),
        "names.wrong": found.all[Verdict.WRONG],
        "names.untrue": found.share(Verdict.UNTRUE),
        "names.sentences_per_s": TIMED / spent,
    }
