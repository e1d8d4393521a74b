"""Every operation that a constraint may use, with extreme arguments: each ends soon, and in little memory.

    constraint_cost_process.py [SAMPLES]      samples of arguments for each operation

Prints the operation that it is at, and each that took too much; the caller limits this process. CPU time of this thread
is measured, and not the time of day, so a busy machine changes nothing.
"""

from __future__ import annotations

import itertools
import random
import sys
from collections.abc import Iterator

import numpy as np

from worldfs.plugins.rekep.allowed_functions import BUILTINS, METHODS, MODULES, ConstraintError, ListedFunction
from worldfs.plugins.rekep.constraint_language import read
from worldfs.testing.cost import confine, spending

CPU_S = 2.0  # of one evaluation, which has one operation or a few hundred
PEAK = 24 << 20  # bytes
ROOM = 1 << 30  # of address space above what the process has when it begins: past it there is no memory

# Names with a value that is extreme in some way, and the lines that make it.
EXTREMES = {
    "zero": "zero = 0", "one": "one = 1", "least": "least = -1", "most": "most = 10 ** 15",
    "lowest": "lowest = -10 ** 15", "tiny": "tiny = 5e-324", "far": "far = 1e308", "endless": "endless = np.inf",
    "none": "none = np.nan", "yes": "yes = 1 < 2", "point": "point = end_effector", "points": "points = keypoints",
    "row": "row = np.ones((1, 1, 512))", "column": "column = np.ones((512, 1, 1))",
    "middle": "middle = np.ones((1, 512, 1))", "square": "square = np.eye(22) * 1e308",
    "whole": "whole = np.arange(256)", "mask": "mask = np.ones(512) > 0", "empty": "empty = np.zeros((0, 512))",
    "hollow": "hollow = np.zeros((512, 1, 0)) + np.zeros((1, 1, 0))", "flat": "flat = [1.5 for i in range(256)]",
    "nested": "nested = [1, 1]\n" + "nested = [nested, nested]\n" * 40,
    "cyclic": "cyclic = [0, 0]\ncyclic[0] = cyclic", "deep": "deep = [0]\nfor i in range(250):\n    deep = [deep]",
    "arrays": "arrays = [np.ones((1, 1, 512)), np.ones((512, 1, 1)), np.ones((1, 512, 1))]",
    "many": "many = [np.ones((1, 1, 1, 60)), np.ones((1, 1, 60, 1)), np.ones((1, 60, 1, 1)), np.ones((60, 1, 1, 1))]",
    "nothing": "nothing = []", "shape": "shape = (0, 512, 512, 512)",
    "wide": "wide = np.linspace(-1e300, 1e300, 250)",
}  # fmt: skip
OPERATORS = ("+", "-", "*", "/", "//", "%", "**", "@", "<", "==", "!=", ">=", "and", "or")
# What one expression cannot do: these bodies each repeat it as often as the budget of steps lets them.
BODIES = {
    "a list that grows by its own slices": "x = [0] + flat\nfor i in range(250):\n    x[0:0] = x",
    "a list that grows by another's slices": "x = [0]\nfor i in range(250):\n    x[1:] = flat",
    "a list within itself": "x = []\nfor i in range(250):\n    x.append(x)",
    "an array filled from a nested list": (
        "x = np.ones(1)\nfor i in range(44):\n    x = x[:, np.newaxis]\nx[0:] = nested"
    ),
    "an array filled where three arrays point": "x = np.ones((8, 8, 8))\nx[column[:, 0, 0] > 2] = flat",
    "three arrays as an index": "x = np.ones((8, 8, 8))\na = row * 0 > 1\nx = x[[[0]] , [[0], [0]], [[[0]], [[0]]]]",
    "arrays of indices against one another": (
        "i = [[0] for k in range(250)]\nj = [0 for k in range(250)]\nx = np.ones((2, 2, 128))\nx = x[i, j]"
    ),
    "an axis for each index": "x = 1\ny = np.ones(1)\nfor i in range(80):\n    y = y[:, np.newaxis]",
    "the remainder of what is far and tiny": "x = wide\nfor i in range(250):\n    x = wide % tiny",
    "decimals": "x = [round(1, -15) for i in range(250)]\nx = round(1, lowest)",
    "decimals of an array": "x = np.round(wide, most)",
    "decimals of a method": "x = wide.round(lowest)",
    "differences without end": "x = np.diff(point, most)",
    "a sum of arrays": "x = sum(many)",
    "a sum of arrays from an array": "x = sum([np.ones((1, 300)), np.ones((300, 1))], np.ones((1, 1)))",
    "sides": "x = np.zeros(shape)",
    "one side": "x = np.eye(1, most)",
    "the sum along an empty side": (
        "a = np.zeros((0, 512, 1, 1)) + np.zeros((0, 1, 512, 1))\n"
        "a = a + np.zeros((0, 1, 1, 512))\nx = np.sum(a, axis=0)"
    ),
    "a choice among three shapes": "x = np.where(row > 0, column, middle)",
    "bounds of other shapes": "x = np.clip(row, column, middle)",
    "bounds of a method": "x = row.clip(column, middle)",
    "a tolerance of another shape": "x = np.isclose(row, column, rtol=middle)",
    "all that is slow": (
        "x = wide\nfor i in range(250):\n    x = np.sort(np.median([np.linalg.inv(square)[0], square[0]], axis=0))"
    ),
    "inverses": "for i in range(250):\n    for j in range(9):\n        x = np.linalg.inv(square)",
    "singular values": "for i in range(250):\n    for j in range(9):\n        x = np.linalg.norm(square, 2)",
    "crossed": "x = np.cross(np.ones((1, 170, 3)), np.ones((170, 1, 3)))",
    "nested in what is returned": "return nested",
    "itself in what is returned": "return cyclic",
    "shapes that do not fit in what is returned": "return arrays",
}  # fmt: skip


def calls(samples: int, draw: random.Random) -> Iterator[tuple[str, str]]:
    """A label and an expression: each function with too few, right and too many arguments, and names of arguments."""
    names = list(EXTREMES)
    listed: list[tuple[str, ListedFunction]] = [
        (f"{module}.{name}", found)
        for module in ("np", "math")
        for name, found in MODULES[module].items()
        if isinstance(found, ListedFunction)
    ]
    listed += list(BUILTINS.items())
    listed += [(f"{draw.choice(names)}.{name}", found) for name, found in METHODS.items() for _ in range(samples)]
    for name, found in listed:
        for count in range(found.least, min(found.most, 4) + 1):
            for _ in range(5 * samples if count else 1):
                row = [draw.choice(names) for _ in range(count)]
                named = [f"{key}={draw.choice(names)}" for key in sorted(found.names) if draw.random() < 0.3]
                yield name, f"{name}({', '.join([*row, *named])})"


def bodies(samples: int) -> Iterator[tuple[str, str]]:
    draw = random.Random(samples)
    names = list(EXTREMES)
    for label, body in BODIES.items():
        yield label, body
    for label, expression in calls(samples, draw):
        yield label, f"x = {expression}"
    pairs = list(itertools.product(names, names))
    for sign in OPERATORS:
        for one, other in draw.sample(pairs, min(len(pairs), samples * 12)):
            yield sign, f"x = {one} {sign} {other}"
    for one, other in draw.sample(pairs, min(len(pairs), samples * 20)):
        third = draw.choice(names)
        yield "index", f"x = {one}[{other}]"
        yield "index by two", f"x = {one}[{other}, {third}]"
        yield "slice", f"x = {one}[{other}:{third}]"
        yield "write", f"{one}[{other}] = {third}"
        yield "write a slice", f"{one}[{other}:{third}] = {draw.choice(names)}"
        yield "add to", f"{one} += {other}\nx = {one} * {third}"
        yield "loop", f"x = 0\nfor i in {one}:\n    for j in {other}:\n        x = i\n        {third}.append(j)"
        yield "comprehension", f"x = [[i, {other}] for i in {one} if {third} < 9]"


def main() -> int:
    confine(ROOM)
    tip, points = np.array([0.5, 0.0, 0.2]), np.arange(24.0).reshape(8, 3)
    worst, count, bad = (0.0, ""), 0, 0
    for label, body in bodies(int(sys.argv[1])):
        used = [name for name in EXTREMES if name in body]
        lines = "\n".join([*(EXTREMES[name] for name in used), body, "return 0"]).splitlines()
        text = "def f(end_effector, keypoints):\n" + "".join(f"    {line}\n" for line in lines)
        print(f"{label}: {body!r}", flush=True, end="\r")
        with spending() as spent:
            try:
                read(text, "f", ())[0]["f"].cost((tip, points), {})
            except ConstraintError as refused:
                bad += "MemoryError" in str(refused)
        count, worst = count + 1, max(worst, (spent.cpu_s, body))
        if spent.cpu_s > CPU_S or spent.peak > PEAK:
            bad += 1
            print(f"TOO MUCH {label}: {spent.cpu_s:.2f} s, {spent.peak >> 20} MiB: {body!r}", flush=True)
    print(f"\n{count} evaluations, at most {worst[0]:.3f} s: {worst[1]!r}")
    return min(bad, 1)


if __name__ == "__main__":
    sys.exit(main())
