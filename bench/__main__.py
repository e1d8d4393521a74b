"""`python -m bench [NAME …]`: runs benches, prints a table, writes bench/latest.json; exit 1 if a bound is missed."""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "src"))  # the tree that we stand in, whatever is installed

from .bounds import BOUNDS  # noqa: E402  # after the path is set

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
        began = time.monotonic()
        for figure, value in importlib.import_module(f"bench.{name}").run().items():
            figures[figure] = round(value, 4)
            bound = BOUNDS.get(figure)
            if bound is not None and not bound.holds(value):
                missed.append(figure)
            word = "" if bound is None else "yes" if bound.holds(value) else "NO"
            limit = f"{bound} {bound.unit}" if bound else ""
            print(f"{figure:32} {value:>10.4g}  {limit:9} {word}", flush=True)
        print(f"  {name}: {time.monotonic() - began:.1f} s", flush=True)
    LATEST.write_text(json.dumps(dict(sorted(figures.items())), indent=2) + "\n")
    print(f"written: {LATEST.relative_to(HERE.parent)}" + (f"; missed: {', '.join(missed)}" if missed else ""))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
