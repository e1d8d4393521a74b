"""`python -m bench [NAME …]`: runs benches, prints a table, writes bench/latest.json; exit 1 if a bound is missed.

One that fails shows why, counts as missed, and the others go on.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "src"))  # the tree that we stand in, whatever is installed

from ._published import note  # noqa: E402  # after the path is set
from .bounds import BOUNDS  # noqa: E402

LATEST = HERE / "latest.json"


def names() -> list[str]:
    """Every module here that says what it measures, `FIGURES`."""
    found = sorted(module.name for module in pkgutil.iter_modules([str(HERE)]) if not module.name.startswith("_"))
    return [name for name in found if hasattr(importlib.import_module(f"bench.{name}"), "FIGURES")]


def main(wanted: list[str]) -> int:
    known = names()
    unknown = [name for name in wanted if name not in known]
    if unknown:
        print(f"bench: found {', '.join(unknown)}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    # A run of some keeps what the others last said; a run of all begins anew.
    figures: dict[str, float] = json.loads(LATEST.read_text()) if wanted and LATEST.exists() else {}
    missed = []
    print(f"{'figure':32} {'value':>10}  {'bound':9} ok", flush=True)
    for name in wanted or known:
        began, ticks = time.monotonic(), processor_ticks()
        try:
            found = importlib.import_module(f"bench.{name}").run()
        except Exception:
            traceback.print_exc()
            missed.append(name)
            continue
        stolen = stolen_percent(ticks, processor_ticks())
        for figure, value in found.items():
            figures[figure] = round(value, 4)
            bound = BOUNDS.get(figure)
            if bound is not None and not bound.holds(value):
                missed.append(figure)
            word = "" if bound is None else "yes" if bound.holds(value) else "NO"
            limit = f"{bound} {bound.unit}" if bound else ""
            print(f"{figure:32} {value:>10.4g}  {limit:9} {word}", flush=True)
        lost = f", {stolen:.0f} % of the processors taken by the machine's neighbours" if stolen >= 1 else ""
        print(f"  {name}: {time.monotonic() - began:.1f} s{lost}", flush=True)
        note({figure: round(value, 4) for figure, value in found.items()})
    LATEST.write_text(json.dumps(dict(sorted(figures.items())), indent=2) + "\n")
    print(f"written: {LATEST.relative_to(HERE.parent)}" + (f"; missed: {', '.join(missed)}" if missed else ""))
    return 1 if missed else 0


def processor_ticks() -> list[int]:
    """user, nice, system, idle, iowait, irq, softirq, steal of all processors (man 5 proc_stat); [] elsewhere."""
    try:
        return [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    except (OSError, ValueError):
        return []


def stolen_percent(before: list[int], after: list[int]) -> float:
    """A virtual machine that waits for its host measures the host: what share of the time that was."""
    if len(before) < 8 or len(after) < 8:
        return 0.0
    spent = [new - old for old, new in zip(before, after, strict=True)]
    return 100 * spent[7] / max(1, sum(spent))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
