"""What a plug-in answers is parsed by the declared type, and nothing of its own is ever called for that."""

import math
import sys
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from enum import IntEnum, StrEnum
from types import GenericAlias, MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldfs.base.clock import SystemClock
from worldfs.base.errors import BadInput, MissingRequirement, StorageError
from worldfs.base.messages import CodedText, coded, render
from worldfs.base.model import Cause, Finding, Operation, Outcome, Parameter, Profile, RobotState, Scene, Thing
from worldfs.base.plugin_calls import called, checked, plugin_name
from worldfs.base.plugin_faults import PluginFault, contained, is_ours
from worldfs.base.plugin_nouns import parse_findings, parse_outcome, traceback_text
from worldfs.base.plugin_values import DEPTH_MOST, Flag, WrongValue, is_array, parse, parsed

pytest.importorskip("numpy", reason="arrays are an extra")

import numpy as np

from worldfs.testing.port_lies import METHODS
from worldfs.testing.wrong_values import OddClass, made_wrong


class Shouts:
    """Whatever is asked of it raises what nobody expects."""

    def _(self, *args, **more):
        raise SystemExit("asked")

    __bool__ = __eq__ = __len__ = __iter__ = __hash__ = __str__ = __repr__ = __float__ = __int__ = __index__ = _
    __getattr__ = __format__ = __contains__ = __getitem__ = _


def test_what_this_package_made_is_ours_and_nothing_else_is():
    theirs = Shouts()
    ours = PluginFault("odd")
    assert all(map(is_ours, (ours, PluginFault, contained, SystemClock().monotonic)))
    assert not any(map(is_ours, (theirs, Shouts, theirs._, len, OSError())))


class LyingText(str):
    __slots__ = ()

    def __eq__(self, other):
        return True

    __hash__ = str.__hash__

    def __str__(self):
        return "another"

    def __len__(self):
        raise SystemExit


class LonelyText(str):
    __slots__ = ()

    def __eq__(self, other):
        return self is other

    __hash__ = object.__hash__


class LyingList(list):
    def __iter__(self):
        raise SystemExit

    def __len__(self):
        return 0


class LyingDict(dict):
    def items(self):
        raise SystemExit

    __iter__ = __len__ = items


class LyingFloat(float):
    __slots__ = ()

    def __float__(self):
        return math.nan


class Word(StrEnum):
    DONE = "done"


class Number(IntEnum):
    TWO = 2


def cyclic():
    value = []
    value.append(value)
    return value


def nested(depth):
    value = 0
    for _ in range(depth):
        value = [value]
    return value


def doubled(depth=64):
    """2^64 values in 65 lists."""
    value = [0]
    for _ in range(depth):
        value = [value, value]
    return value


RIGHT = [
    (bool, True, True),
    (Flag, np.bool_(True), True),
    (int, np.int32(3), 3),
    (int, Number.TWO, 2),
    (float, 3, 3.0),
    (float, np.float32(0.5), 0.5),
    (float, LyingFloat(2.0), 2.0),
    (str, Word.DONE, "done"),
    (str, LyingText("so"), "so"),
    (tuple[float, ...], np.array([1, 2]), (1.0, 2.0)),
    (tuple[float, ...], (one for one in (1, 2.5)), (1.0, 2.5)),
    (Sequence[str], LyingList(["a"]), ("a",)),
    (frozenset[str], {"a"}, frozenset("a")),
    (Mapping[str, int], LyingDict(a=1), {"a": 1}),
    (Mapping[str, int], OrderedDict(a=1), {"a": 1}),
    (Mapping[str, int], MappingProxyType({"a": 1}), {"a": 1}),
    (object, {"a": (1, np.float64(0.5), np.zeros(2), None, True)}, {"a": [1, 0.5, [0.0, 0.0], None, True]}),
    (str | None, None, None),
    (Cause, Cause.LOST, Cause.LOST),
]
WRONG = [
    (bool, "no"), (bool, 1), (bool, None), (bool, np.bool_(True)), (bool, [False]), (bool, np.array([False])),
    (Flag, "no"), (Flag, math.nan), (Flag, np.array([True])), (Flag, 1),
    (int, True), (int, 1.0), (int, 1 << 63), (int, "1"), (int, None), (int, np.float64(1)),
    (float, True), (float, math.nan), (float, math.inf), (float, 10**400), (float, "1"), (float, None), (float, 1j),
    (str, None), (str, b"text"), (str, 1), (str, "\ud800"), (str, "x" * (1 << 21)), (str, ["a"]),
    (tuple[float, ...], None), (tuple[float, ...], "12"), (tuple[float, ...], {"a": 1}),
    (tuple[float, ...], [math.nan]),
    (tuple[float, ...], np.array(["a"])), (tuple[float, ...], np.array([object()])), (tuple[float, ...], [1, True]),
    (tuple[int, str], (1,)), (tuple[int, str], (1, "a", 2)),
    (Mapping[str, int], [("a", 1)]), (Mapping[str, int], {1: 1}), (Mapping[str, int], {"a": "1"}),
    (Mapping[str, int], {LonelyText("a"): 1, "a": 2}), (Mapping[str, int], {"k" * 1000: 1}),
    (object, object()), (object, {1: 2}), (object, cyclic()), (object, nested(DEPTH_MOST + 1)),
    (object, nested(100_000)),
    (object, doubled()), (object, list(range(1_000_000))), (object, {"a": {"b": [math.nan]}}), (object, b"bytes"),
    (object, np.array([np.nan]).astype(object)), (object, threading.Lock()),
    (Cause, "lost"), (Cause, None), (str | None, 1),
]  # fmt: skip
HINTS = [
    bool, Flag, int, float, str, bytes, tuple[float, ...], Sequence[str], Mapping[str, int], object, Cause, Outcome,
    Scene, tuple[int, str], str | None, frozenset[str], Profile,
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(RIGHT)))  # pytest must not look at the values
def test_a_right_value_is_made_of_pythons_own_types(case):
    hint, value, is_then = RIGHT[case]
    made = parse(hint, value, "here")
    assert made == is_then and type(made) is type(is_then)


@pytest.mark.parametrize("case", range(len(WRONG)))
def test_a_wrong_value_is_refused_with_found_expected_and_where(case):
    hint, value = WRONG[case]
    with pytest.raises(WrongValue) as refused:
        parse(hint, value, "plug-in here")
    assert refused.value.path.startswith("plug-in here") and refused.value.found and refused.value.expected
    assert len(render(str(refused.value), "zh")) < 2000


@pytest.mark.parametrize("hint", HINTS)
def test_nothing_of_the_value_is_called_for_its_parsing_or_for_the_message(hint):
    with pytest.raises(WrongValue):
        parse(hint, Shouts(), "here")


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(st.characters(codec=None)),
                    lambda one: st.lists(one) | st.dictionaries(st.text() | st.integers(), one)))  # fmt: skip
def test_whatever_is_parsed_as_json_can_be_written_and_read_again(value):
    import json

    try:
        made = parse(object, value, "here")
    except WrongValue:
        return
    assert json.loads(json.dumps(made, allow_nan=False, ensure_ascii=False).encode()) == made


@pytest.mark.parametrize(
    ("outcome", "field"),
    [
        (Outcome("no"), "ok"),  # type: ignore[arg-type]
        (Outcome(True, "done", Cause.ERROR), "cause"),
        (Outcome(True, 7), "message"),  # type: ignore[arg-type]
        (Outcome.success("x", a={"b": [0, math.nan]}), "evidence.a.b[1]"),
        (Outcome(False, findings=("no",)), "findings[0]"),  # type: ignore[arg-type]
        (Outcome(False, findings=(Finding("C", "f", "e", None, "x"),)), "findings[0].found"),  # type: ignore[arg-type]
        (object.__new__(Outcome), "ok"),
    ],
)  # fmt: skip
def test_an_outcome_is_refused_by_the_field_that_is_wrong(outcome, field):
    with pytest.raises(WrongValue) as refused:
        parse_outcome(outcome, "arm")
    assert refused.value.path == f"arm {field}"


def test_an_outcome_of_another_class_is_none():
    class Mine(Outcome):
        ok = True

    for value in (Mine(False), True, None, "succeeded", {"ok": True}):
        with pytest.raises(WrongValue, match="expected Outcome"):
            parse_outcome(value, "arm")


def test_a_message_keeps_its_code_and_a_wrong_argument_of_it_is_refused():
    said = coded("runtime.disabled", node="arm")
    made = parse_outcome(Outcome.success(said), "arm").message
    assert render(made, "zh") == render(said, "zh") != made
    with pytest.raises(WrongValue):
        parse_outcome(Outcome.success(CodedText("x", "runtime.disabled", {"node": object()})), "arm")


@pytest.mark.parametrize(
    "scene",
    [
        Scene((RobotState("a", (math.nan, 0.0, 0.0)),)),
        Scene((RobotState("a"), RobotState("a"))),
        Scene((), (Thing("a"),), (Thing("a"),)),
        Scene((), (Thing("a", position=(1.0, 2.0)),)),
        Scene((), (Thing("a", size=(-1.0,)),)),
        Scene((), (Thing("a", orientation=(1.0,)),)),
        Scene((), (Thing(" "),)),
        Scene((RobotState(None),)),
        Scene((RobotState("a", extra={1: 2}),)),
        Scene(perception=cyclic()),
        {"robots": []},
    ],
)
def test_a_scene_is_refused_that_no_file_could_hold(scene):
    with pytest.raises(WrongValue):
        parsed(Scene, scene, "arm observe")


def test_a_profile_and_findings_are_parsed_whole():
    profile = Profile("Lamp", ops=(Operation("dim", parameters=(Parameter("level", "number"),)),), bounds=((0.0, 1.0),))
    assert parsed(Profile, profile, "lamp") == profile
    assert parse_findings([Finding("C", "f", "e", "x", "y")], "lamp") == (Finding("C", "f", "e", "x", "y"),)
    with pytest.raises(WrongValue):
        parse_findings(["no"], "lamp")


@pytest.mark.parametrize("error", [SystemExit(0), KeyboardInterrupt(), GeneratorExit(), BaseException("base")])
def test_what_ends_a_process_ends_a_call_when_a_plug_in_raises_it_in_a_thread(error):
    found = []

    def call():
        try:
            contained(lambda: raised(error), "arm execute")
        except PluginFault as fault:
            found.append(fault)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    assert type(error).__name__ in found[0].found


def raised(error):
    raise error


@pytest.mark.parametrize("more", [-400, 400])
@pytest.mark.parametrize("error", [None, ValueError(), SystemExit(0), RecursionError()])
def test_a_lower_limit_of_recursion_ends_with_the_call_that_sets_it(error, more):
    before = sys.getrecursionlimit()

    def call():
        sys.setrecursionlimit(before + more)
        if error is not None:
            raise error

    try:
        with nullcontext() if error is None else pytest.raises((PluginFault, type(error))):
            contained(call, "arm execute")
        assert sys.getrecursionlimit() == max(before, before + more)
    finally:
        sys.setrecursionlimit(before)


def test_a_call_has_the_limit_of_recursion_though_another_has_lowered_it():
    before = sys.getrecursionlimit()
    assert (
        contained(lambda: (sys.setrecursionlimit(before - 400), contained(sys.getrecursionlimit, "b"))[1], "a")
        == before
    )


def test_ctrl_c_of_a_person_goes_through():
    with pytest.raises(KeyboardInterrupt):
        contained(lambda: raised(KeyboardInterrupt()), "arm execute")


class Unspeakable(Exception):
    def __str__(self):
        raise SystemExit


class OddUserError(BadInput):
    @property
    def found(self):
        return 7

    @found.setter
    def found(self, value):
        pass


@pytest.mark.parametrize(
    ("error", "becomes"),
    [
        (StorageError("full"), PluginFault),  # that of a store ends the kernel
        (Unspeakable(), PluginFault),
        (RuntimeError("x" * 100_000), PluginFault),
        (OddUserError("a"), PluginFault),
        (MissingRequirement("no wire", fix="plug it in"), MissingRequirement),
        (type("Mine", (BadInput,), {})("mine"), BadInput),
        (TimeoutError("late"), TimeoutError),
    ],
)
def test_what_a_package_raises_is_what_its_callers_know(error, becomes):
    with pytest.raises(becomes) as caught:
        called(lambda: raised(error), "arm open")
    assert type(caught.value) is becomes and str(caught.value)


def test_no_text_that_a_package_makes_is_asked_for():
    class Hangs:
        def __str__(self):
            raise AssertionError("asked")

        __repr__ = __str__

    class Own(RuntimeError):
        __str__ = Hangs.__str__

    for error, said in ((Own("broken"), "broken"), (RuntimeError(Hangs()), "<Hangs>"), (KeyError(Hangs()), "<Hangs>")):
        with pytest.raises(PluginFault) as caught:
            called(lambda error=error: raised(error), "arm open")
        assert said in str(caught.value)
    with pytest.raises(RuntimeError, match="plain"):
        called(lambda: raised(RuntimeError("plain")), "arm open")


def test_a_clock_that_is_lent_is_not_changed_for_others():
    clock = SystemClock()
    with pytest.raises(AttributeError):
        clock.monotonic = lambda: float("nan")
    assert clock.monotonic() <= clock.monotonic() and clock.now() <= clock.now()


def test_a_checked_plug_in_has_the_interfaces_that_it_had_and_changes_nothing_of_ours():
    from worldfs.base.driver import OPTIONAL, Driver, RealBody, Stoppable
    from worldfs.base.model import Order

    class Arm:
        real = True

        def execute(self, order, run):
            order.params["target_pose"][:] = [0, 0, 0]
            return Outcome.success("done")

        def observe(self):
            return None

    Arm.__module__ = "their_package"
    arm, order = checked(Arm(), Driver, *OPTIONAL), Order("a", "arm", "move_to", {"target_pose": [1, 2, 3]})
    assert isinstance(arm, RealBody) and not isinstance(arm, Stoppable)
    assert arm.execute(order, None).ok and order.params["target_pose"] == [1, 2, 3]
    with pytest.raises(WrongValue, match="expected Scene"):
        arm.observe()
    Arm.real = "yes"
    with pytest.raises(WrongValue, match="expected True or False"):
        bool(arm.real)
    with pytest.raises(AttributeError):
        arm.review(order)


def test_each_optional_interface_of_a_driver_is_that_of_a_package_s_body_too():
    from worldfs.base import driver

    texts = {name: getattr(one, "__doc__", "") or "" for name, one in vars(driver).items()}
    told = {name for name, text in texts.items() if text.startswith("Optional interface of")}
    assert "TakesUp" in told
    of_this_package = {"RemoteKernel", "SaysReachable", "NamesItsCall", "SlowReviewer", "FeelsItsHand"}
    assert told - of_this_package == {one.__name__ for one in driver.OPTIONAL}


def test_an_array_is_known_by_the_name_that_each_numpy_gives_its_type():
    for name in ("ndarray", "NDArray"):  # before numpy 2.5, and since
        assert is_array(GenericAlias(type(name, (), {}), float))
    assert is_array(np.typing.NDArray[np.float64]) and not is_array(list[float])


async def _coroutine():
    pass


def _generator():
    yield


async def _async_generator():
    yield


class _Awaitable:
    def __await__(self):
        return iter(())


@pytest.mark.parametrize("answer", [_coroutine, _generator, _async_generator, _Awaitable])
def test_a_method_that_has_not_begun_its_work_has_not_done_it(answer):
    with pytest.raises(WrongValue) as wrong:
        parse(type(None), answer(), "shaker stop")
    assert "async" in wrong.value.expected


@pytest.mark.parametrize("answer", [None, 7, "stopped", object(), [_coroutine]])
def test_what_a_method_answers_that_need_answer_nothing_is_passed_over(answer):
    assert parse(type(None), answer, "shaker stop") is None


@pytest.mark.parametrize("port", METHODS)
def test_a_made_object_that_exits_when_it_is_asked_for_anything_ends_nothing(port):
    kinds = {kind for kind, _ in METHODS[port].values()}
    ports = sorted(kinds, key=lambda kind: kind.__name__)
    raised = []

    def use(lie):
        try:
            made = checked(lie.make(), ports[0], *ports[1:])
            assert repr(made) and plugin_name(made)
            for field in METHODS[port]:
                member = getattr(made, field, None)
                if callable(member):
                    member()
        except BaseException as error:  # a test of what it is
            raised.append((lie.name, error))

    for lie in made_wrong():
        thread = threading.Thread(target=use, args=(lie,))  # where no Ctrl-C is a person's
        thread.start()
        thread.join()
    assert raised and not [item for item in raised if not isinstance(item[1], Exception)]


def test_the_traceback_of_an_error_asks_nothing_of_a_package():
    class Odd(AttributeError):
        __cause__ = __context__ = __traceback__ = property(lambda self: sys.exit(0))
        __bool__ = __str__ = lambda self: sys.exit(0)

    text = ""
    try:
        try:
            OddClass().connect  # noqa: B018
        except AttributeError as first:
            raise Odd("told") from first
    except Odd as last:
        text = traceback_text(last)
    assert text.index("AttributeError: 'OddClass' object has no attribute 'connect'") < text.index("Odd: told")
    assert text.count(test_the_traceback_of_an_error_asks_nothing_of_a_package.__name__) == 2
