"""The language of constraint files: it computes costs, and everything else is refused with line and reason."""

from __future__ import annotations

import math

import pytest

np = pytest.importorskip("numpy", reason="constraints compute with numpy, of the extra worldfs[sim]")

from worldfs.plugins.rekep.allowed_functions import ConstraintError  # noqa: E402  # after the question whether it is there
from worldfs.plugins.rekep.constraint_language import LINES, TEXT, read  # noqa: E402  # same

TIP = np.array([0.5, 0.0, 0.2])
POINTS = np.array([[0.5, 0.0, 0.0], [0.5, 0.1, 0.3], [0.4, -0.2, 0.1]])


def cost(body: str, **given):
    lines = "\n".join("    " + line for line in body.strip().splitlines())
    text = f"def stage1_subgoal_constraint1(end_effector, keypoints):\n{lines}\n"
    keypoints = POINTS.copy()
    keypoints.setflags(write=False)
    return read(text, "f.txt", tuple(given))[0]["stage1_subgoal_constraint1"].cost((TIP, keypoints), given)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("return np.linalg.norm(end_effector - keypoints[0]) - 0.05", 0.15),
        ('"""A docstring."""\nreturn end_effector[2] - keypoints[1][2]', -0.1),
        ("offset = np.array([0, 0, 0.1])\nreturn np.linalg.norm(end_effector - (keypoints[0] + offset))", 0.1),
        ("goal = keypoints[0].copy()\ngoal[2] += 0.2\nreturn np.linalg.norm(end_effector - goal)", 0.0),
        ("costs = []\nfor i in range(3):\n    costs.append(keypoints[i][2])\nreturn sum(costs)", 0.4),
        ("return max([abs(p[1]) for p in keypoints if p[2] >= 0]) - 0.2", 0.0),
        ("a, b = keypoints[0], keypoints[1]\nv = (b - a) / np.linalg.norm(b - a)\nreturn 1 - v[2] ** 2", 0.1),
        (
            "x = 1.0\nif end_effector[0] > 0.4 and not keypoints[0][2] > 1:\n    x -= 3\nelse:\n    x = 9\nreturn x",
            -2.0,
        ),
        ("return np.mean(keypoints[:, 2]) if len(keypoints) == 3 else 7", 0.4 / 3),
        ("return math.degrees(np.arccos(np.dot([0, 0, 1], np.array([0, 1, 0]))))", 90.0),
        (
            "x = 0\nfor i, p in enumerate(keypoints):\n    if i == 2:\n        break\n    x += p[0]\nreturn x",
            1.0,
        ),
        ("return keypoints.max(axis=0)[2] - keypoints.shape[0]", -2.7),
        ("return 0 <= 1 < 2 and 5.0", 5.0),
    ],
)
def test_what_models_write_is_computed(body, value):
    assert cost(body) == pytest.approx(value)


def test_functions_of_one_file_call_each_other_and_values_stand_beside_them():
    text = "num_stages = 2\n\ndef far(a, b):\n    return np.linalg.norm(a - b)\n\n"
    text += "def stage1_path_constraint1(end_effector, keypoints):\n    return far(end_effector, keypoints[0])\n"
    functions, values = read(text, "f.txt")
    assert values == {"num_stages": 2}
    assert functions["stage1_path_constraint1"].cost((TIP, POINTS), {}) == pytest.approx(0.2)


def test_what_the_runtime_lends_can_be_called():
    assert cost("return held(0) - 1", held=lambda index: 1) == 0.0


HOSTILE = {
    "an import": "import os\nreturn 0",
    "an import from": "from os import system\nreturn 0",
    "an import by name": "__import__('os').system('true')\nreturn 0",
    "open": "return len(open('/etc/passwd'))",
    "eval": "return eval(1)",
    "exec": "exec(1)\nreturn 0",
    "getattr": "return getattr(keypoints, 1)",
    "globals": "return len(globals())",
    "the class of a value": "return keypoints.__class__",
    "subclasses": "return ().__class__.__bases__[0].__subclasses__()",
    "a module of numpy": "return np.os.system(1)",
    "numpy reading files": "return np.fromfile(1)",
    "numpy loading": "return np.load(1)",
    "numpy saving": "return keypoints.tofile(1)",
    "numpy's own eval": "return np.core.numeric.asarray(1)",
    "a pointer": "return keypoints.ctypes.data",
    "a while loop": "while True:\n    pass\nreturn 0",
    "a loop over a large range": "x = 0\nfor i in range(10 ** 9):\n    x += 1\nreturn x",
    "loops in loops": "x = 0\nfor i in range(200):\n    for j in range(200):\n        x += 1\nreturn x",
    "a list that grows": "x = [0]\nfor i in range(60):\n    x = x + x\nreturn len(x)",
    "a list times a number": "return len([0] * 10 ** 9)",
    "a tower of powers": "return 9 ** 9 ** 9",
    "a large array": "return np.zeros((100000, 100000))[0][0]",
    "an array by broadcasting": "x = np.linspace(0, 1, 250)\ny = x[:, None] * x\nreturn y[0][0]",
    "lists within lists": "a = [1, 1]\n" + "a = [a, a]\n" * 40 + "return np.sum(a)",
    "itself for ever": "return stage1_subgoal_constraint1(end_effector, keypoints)",
    "a lambda": "f = lambda x: x\nreturn f(1)",
    "a text": "return 'x' * 10 ** 9",
    "a formatted text": "return f'{keypoints}'",
    "a class": "class A:\n    pass\nreturn 0",
    "a function within": "def f():\n    return 1\nreturn f()",
    "a try": "try:\n    return 0\nexcept Exception:\n    return 1",
    "a with": "with keypoints:\n    return 0",
    "a global": "global x\nx = 1\nreturn x",
    "an unknown name": "return secret",
    "the printing of something": "print(keypoints)\nreturn 0",
    "a generator": "yield 1",
    "a change of the keypoints": "keypoints[0] = 0\nreturn 0",
    "a walrus": "return (x := 1)",
    "a dictionary": "return {1: 2}[1]",
    "an object array": "return np.array([keypoints, [1]])",
    "a truth value": "return end_effector[2] > 0",
    "nothing": "x = 1",
    "an array": "return end_effector",
    "a keypoint that is not there": "return keypoints[17][0]",
    "deep brackets": "return " + "abs(" * 60 + "1" + ")" * 60,
    "a deep sum": "return " + "+".join(["1"] * 3000),
    "minus signs": "return " + "-" * 900 + "1",
    "decimals without end": "return round(1, -200000000)",
    "decimals of an array without end": "return np.round(keypoints, 10 ** 9)[0][0]",
    "differences without end": "return np.diff(keypoints[0], 10 ** 15)",
    "a list that grows by slices": "x = [0]\nfor i in range(200):\n    x[0:0] = x\nreturn 0",
    "an array written into": "return np.add(keypoints, 1, keypoints)[0][0]",
    "a shape by another way": "return np.zeros_like(keypoints, None, None, True, (100000, 100000))[0][0]",
    "a second side": "return np.eye(1, 10 ** 10)[0][0]",
    "an argument that costs": "return np.sum(keypoints, where=keypoints)",
    "ifs within ifs": "x = 0\nif x:\n    x = 1\n" + "elif x:\n    x = 1\n" * 400 + "return x",
    "a list in lists": "a = [1, 1]\n" + "a = [a, a]\n" * 40 + "return a",
    "lists of several lengths": "return [keypoints, [1]]",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_file_is_refused_with_its_line(what):
    with pytest.raises(ConstraintError) as refused:
        cost(HOSTILE[what])
    assert refused.value.path.startswith("f.txt:")
    assert refused.value.found


@pytest.mark.parametrize(
    "text",
    [
        "import os\n",
        "x = open(1)\n",
        "print(1)\n",
        "def f(a=1):\n    return 0\n",
        "def f(*a):\n    return 0\n",
        "@staticmethod\ndef f(a):\n    return 0\n",
        "def _f(a):\n    return 0\n",
        "async def f(a):\n    return 0\n",
        "def f(a):\n  return 0\ndef f(a):\n  return 0\n",
        "while True:\n    pass\n",
        "def f(:\n",
        "x = " + "[" * 300,
        "def f(a):\n    return 0\0\n",
        "a" * (TEXT + 1),
        "\n" * (LINES + 1),
        "a=1;" * (LINES + 1),
    ],
)
def test_a_hostile_module_is_refused(text):
    with pytest.raises(ConstraintError):
        read(text, "f.txt")


@pytest.mark.parametrize("body", ["return 1 / 0", "return np.sqrt(-1)", "return math.sqrt(-1)", "return np.log(0) * 0",
                                  "return np.linalg.inv(np.zeros((2, 2)))[0][0]", "return 2.0 ** 9999"])  # fmt: skip
def test_what_is_no_number_is_nan_and_never_a_warning(body):
    assert math.isnan(cost(body))


def test_a_function_that_computes_too_long_ends_soon():
    turn = "for i in range(250):\n    x = np.sort(np.cos(x * x) + np.sin(x))\n"
    with pytest.raises(ConstraintError, match="steps"):
        cost("x = np.linspace(0, 1, 256)\n" + turn * 4 + "return x[0]")
