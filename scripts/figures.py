"""The measured rows of the documents: `write` brings in what runs here have noted, `check` that no row claims too much.

docs/measured.json holds the last published results, each with its commit, its day and a digest of the code that it
speaks of; docs/figures.md and the marked parts of README.md and docs/proofs.md are rendered from it. A row whose code
has changed since says so: `check` refuses documents in which it does not.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "src"))

from bench import perception, worlds  # noqa: E402
from bench._published import (  # noqa: E402
    FIGURES,
    HANDLING,
    HANDLING_SKILLS,
    IN_README,
    NOTED,
    PROOFS,
    SIGHTED,
    WORLDS,
    digest,
)
from bench.bounds import BOUNDS  # noqa: E402  # after the path is set

from worldfs.skills.success_rate import success_rate  # noqa: E402

KEPT = ROOT / "docs/measured.json"
MARKED = (ROOT / "README.md", ROOT / "docs/proofs.md", ROOT / "docs/perception.md")
_PART = re.compile(r"(<!-- measured: (\w+) -->\n).*?(<!-- end -->)", re.S)

HEAD = """# Figures

`make bench` measured these figures on 2 shared cores without a GPU, and `make figures` wrote them here. A figure over a
floor is a ratio: the same run also makes the bare system calls, or the bare exchange, that the work needs at least. The
machine's disk and processors vary by a factor of two from minute to minute. A missed bound is marked, and makes
`make bench` fail.

"""

Measured = dict[str, dict[str, Any]]


def figures(measured: Measured) -> str:
    lines = ["| figure | value | bound | what it is | measured |", "|---|---|---|---|---|"]
    for row in FIGURES:
        if (found := measured.get(row.name)) is None:
            lines.append(f"| `{row.name}` | – | {BOUNDS.get(row.name, '')} | {row.what} | not yet |")
            continue
        bound = BOUNDS.get(row.name)
        unit = bound.unit if bound and bound.unit else "ms" if row.name.endswith("_ms") else ""
        limit = str(bound or "") + ("" if bound is None or bound.holds(found["result"]) else " **missed**")
        size = abs(found["result"])
        value = f"{found['result']:,.0f}" if size >= 1000 else f"{found['result']:.3g}"
        value += f" {unit}" if unit else ""
        lines.append(f"| `{row.name}` | {value} | {limit} | {row.what} | {_when(found, row.code)} |")
    return "\n".join(lines) + "\n"


SKILLS = """
## Skills

`make bench ARGS=skills` runs 40 trials of each skill on seeded tables that were not used for tuning. The measures of
[handling](skills.md#handling-beyond-pick-and-place) judge them; the interval is Wilson's of 95 %. "Refused beforehand"
counts the seeds on which the review said, before anything moved, that the order cannot be done, or on which the thing
to place beside another could not be picked up first; these seeds do not count as trials.

"""


def skills(measured: Measured) -> str:
    lines = ["| skill | done | share | refused beforehand | what | measured |", "|---|---|---|---|---|---|"]
    code = HANDLING[0].code
    for skill, what in HANDLING_SKILLS.items():
        rows = {part: measured.get(f"skills.{skill}.{part}") for part in ("success", "low", "high", "tried", "refused")}
        if any(row is None for row in rows.values()):
            lines.append(f"| `skills.{skill}.success` | – | – | – | {what} | not yet |")
            continue
        share, low, high, tried, refused = (row["result"] for row in rows.values() if row is not None)
        done = f"{round(share * tried)} of {tried:g} | {100 * low:.0f}–{100 * high:.0f} %"
        lines.append(f"| `skills.{skill}.success` | {done} | {refused:g} | {what} | {_when(rows['success'], code)} |")
    return "\n".join(lines) + "\n"


HONEST = """
## Honest worlds

`make bench ARGS=worlds` uses the same seeded tables, but one property of the world differs from what the robot was
told. Physics: the sliding friction of things, supports and finger pads (told: 1), the masses and sizes of things as
factors, the delay of the servos in seconds. Cameras: the light as a factor, how far round the table the lamps stand
(degrees), the warmth of the light (red times 1 + this, blue times 1 − this), the noise of the depth (mm at 1 m, told:
2) and of the colours (of 255), and how far each camera is from its calibration, in a direction drawn from the seed
(mm; degrees). "drawn" changes all of them at once, by the seed and the ranges of `paos bench tabletop --disturb`.
Each trial has a benign twin, the same seed with nothing changed: a level's share is of the seeds whose twin
succeeded. "From pixels" is carrying with `Perception: camera`; *said* counts the failures there in which the arm
refused a faulty picture with its reason, before it touched anything. The trials and their worlds are written to
build/world_trials.jsonl. To measure a range of your own: `paos bench tabletop --perception camera --world
light=0.2..3`.

"""


def honest(measured: Measured) -> str:
    lines = ["| world | carry (pick and place) | push | carry, from pixels | measured |", "|---|---|---|---|---|"]
    for factor, level in worlds.ROWS:
        found = {skill: _world_cell(measured, skill, factor, level) for skill in worlds.SKILLS}
        rows = [row for _, row in found.values() if row is not None]
        when = _when(rows[-1], WORLDS[0].code) if rows else "not yet"
        name = "benign twins" if factor == "nominal" else f"{factor} {level:g}" if level else factor
        lines.append(f"| {name} | {' | '.join(cell for cell, _ in found.values())} | {when} |")
    return "\n".join(lines) + "\n"


def _world_cell(measured: Measured, skill: str, factor: str, level: float) -> tuple[str, dict[str, Any] | None]:
    name = worlds.figure(skill, factor, level)
    row = measured.get(name)
    of = measured.get(f"worlds.{skill}.{'tried' if factor == 'nominal' else 'twins'}")
    if (factor, level) not in worlds.CELLS[skill] or row is None or of is None:
        return "–", None
    said = measured.get(f"{name}.said")
    share = success_rate(round(row["result"] * of["result"]), round(of["result"]))
    return f"{share}" + (f", {said['result']:g} said" if said and said["result"] else ""), row


def proofs(measured: Measured) -> str:
    lines = ["| promise | how it is tried | result | at |", "|---|---|---|---|"]
    for row in PROOFS:
        found = measured.get(row.test)
        result = f"{found['result']} | {_when(found, row.code)}" if found else "– | not yet recorded"
        lines.append(f"| {row.promise} | {row.how} | {result} |")
    return "\n".join(lines) + "\n"


def promises(measured: Measured) -> str:
    """The proofs in short, each a link to its test, with the first part of its result; †: the code is newer."""
    lines = ["promise | last result", "---|---"]
    for row in (row for row in PROOFS if row.test in IN_README):
        found = measured.get(row.test)
        test = f"tests/proof/{row.test}.py" if row.test.startswith("test_") else f"scripts/{row.test}.py"
        older = "†" if found and found["code"] != digest(row.code) else ""
        result = f"{str(found['result']).partition(';')[0]} (`{found['commit']}`{older})" if found else "–"
        promise = f"[{row.promise}]({test})" if (ROOT / test).exists() else row.promise
        lines.append(f"{promise} | {result}")
    return "\n".join(lines) + "\n"


def confusion(measured: Measured) -> str:
    """What the judge says of each step, against what the camera shows of it."""
    sights = ("done", "failed", "unseen")
    lines = ["| the judge says | seen as done | seen as failed | out of sight |", "|---|---|---|---|"]
    for true in ("done", "failed"):
        found = [measured.get(f"perception.true_{true}_seen_{seen}") for seen in sights]
        lines.append(f"| {true} | " + " | ".join(f"{row['result']:.0f}" if row else "–" for row in found) + " |")
    return "\n".join(lines) + "\n"


def families(measured: Measured) -> str:
    """Success by the cameras alone in each family."""
    return _shares(measured, "family", "tabletop.camera_success_", perception.FAMILIES)


def seen_handling(measured: Measured) -> str:
    """Success of handling by the cameras alone."""
    return _shares(measured, "operation", "perception.skill_", perception.SKILLS)


def _shares(measured: Measured, what: str, prefix: str, names: tuple[str, ...]) -> str:
    code = next(row.code for row in SIGHTED)
    lines = [f"| {what} | success | measured |", "|---|---|---|"]
    for name in names:
        found, tried = measured.get(prefix + name), measured.get(f"{prefix}{name}.tried")
        if found is None:
            lines.append(f"| {name} | – | not yet |")
            continue
        share = f"{found['result']:.2f}"
        if tried is not None:
            share = str(success_rate(round(found["result"] * tried["result"]), round(tried["result"])))
        lines.append(f"| {name} | {share} | {_when(found, code)} |")
    return "\n".join(lines) + "\n"


def _when(found: dict[str, Any], code: tuple[str, ...]) -> str:
    older = "" if found["code"] == digest(code) else ", older code"
    return f"{found['date']}, `{found['commit']}`{older}"


def _committed(name: str, row: dict[str, Any]) -> bool:
    """Nobody can look at the code of a result that was taken between two commits."""
    if whole := not row["commit"].endswith("+"):
        return whole
    print(f"figures: left out, measured on code that is in no commit: {name}", file=sys.stderr)
    return whole


def pages(measured: Measured) -> dict[Path, str]:
    """Every document with rows in it, as it should be."""
    parts = {
        "figures": figures, "proofs": proofs, "promises": promises, "confusion": confusion, "families": families,
        "seen_handling": seen_handling,
    }  # fmt: skip
    whole = HEAD + figures(measured) + SKILLS + skills(measured) + HONEST + honest(measured)
    found = {ROOT / "docs/figures.md": whole}
    for page in MARKED:
        found[page] = _PART.sub(lambda part: part[1] + parts[part[2]](measured) + part[3], page.read_text("utf-8"))
    return found


def main(what: str) -> int:
    if what not in ("write", "check"):
        print(f"figures: found {what!r}, expected write or check", file=sys.stderr)
        return 2
    measured: Measured = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    if what == "write":
        noted: Measured = json.loads(NOTED.read_text("utf-8")) if NOTED.exists() else {}
        measured |= {name: row for name, row in noted.items() if _committed(name, row)}
        known = {row[0] for row in (*FIGURES, *HANDLING, *WORLDS, *SIGHTED, *PROOFS)}
        measured = {name: row for name, row in sorted(measured.items()) if name in known}
        KEPT.write_text(json.dumps(measured, indent=1, ensure_ascii=False) + "\n", "utf-8")
    stale = [
        (page, text) for page, text in pages(measured).items() if not page.exists() or page.read_text("utf-8") != text
    ]
    for page, text in stale:
        if what == "write":
            page.write_text(text, "utf-8")
        print(f"figures: {'written' if what == 'write' else 'rows older than their code'}: {page.relative_to(ROOT)}")
    if stale and what == "check":
        print(
            "figures: 'make figures' says of each row whether it is older; 'make bench' measures again", file=sys.stderr
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "check"))
