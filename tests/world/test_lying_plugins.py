"""A few lies of every port of a package, in one kernel beside an honest robot; `make proof` tries them all."""

import pytest

pytest.importorskip("gymnasium", reason="environments are an extra")

from worldfs.base.driver import OPTIONAL, Simulated
from worldfs.robots.targets.target_adapter import SessionAware
from worldfs.skills.skill_runtime import ParameterReader, SourcedSkill
from worldfs.testing import lying_calls, lying_kernels
from worldfs.testing.port_lies import METHODS, lies


@pytest.mark.slice(4)
@pytest.mark.parametrize("first", range(4))
def test_no_kernel_ends_nobody_else_is_harmed_and_nothing_is_believed(tmp_path, first):
    found = lying_kernels.run(tmp_path, lying_kernels.every(50, first))
    assert len(found.ends) >= 60
    assert found.code == 0 and "Traceback" not in found.printed, found.printed[-3000:]
    assert found.honest == dict.fromkeys(("honest_1", "honest_2", "honest_s"), "succeeded")
    assert not [str(end.lie) for end in found.ends if end.believed]
    assert not [str(end.lie) for end in found.ends if end.state != "failed" or not end.said.strip()]


@pytest.mark.slice(3)
def test_what_any_method_of_any_port_raises_ends_its_own_job_and_nothing_else(tmp_path):
    found = lying_kernels.run(tmp_path, lying_kernels.raised_by_each())
    assert len(found.ends) > 100 and found.code == 0 and "Traceback" not in found.printed, found.printed[-3000:]
    assert found.honest == dict.fromkeys(("honest_1", "honest_2", "honest_s"), "succeeded")
    assert not [str(end.lie) for end in found.ends if end.state != "failed" or not end.said.strip()]


def test_every_optional_member_of_a_port_has_its_liars():
    optional = {"body": OPTIONAL, "target": (SessionAware, Simulated), "skill": (SourcedSkill, ParameterReader)}
    for port, kinds in optional.items():
        members = {name for kind in kinds for name in vars(kind) if not name.startswith("_")}
        assert members <= METHODS[port].keys()


def test_an_object_that_exits_when_it_is_asked_for_its_class_ends_no_kernel(tmp_path):
    made = {
        port: [number for number, lie in enumerate(lies(port)) if lie.lie.name.startswith("makes ")]
        for port in ("body", "target", "robot", "policy")
    }
    found = lying_kernels.run(tmp_path, made)
    assert all(made.values()) and found.code == 0, found.printed[-3000:]
    assert found.honest == dict.fromkeys(("honest_1", "honest_2", "honest_s"), "succeeded")
    assert not [str(end.lie) for end in found.ends if end.state != "failed" or not end.said.strip()]


@pytest.mark.parametrize("port", lying_calls.PORTS)
def test_no_wrong_answer_of_a_backend_or_an_importer_is_believed(tmp_path, port):
    ends = lying_calls.PORTS[port](tmp_path)
    wrong = [end for end in ends if end.lie.method]
    assert wrong and not [(str(end.lie), end.said) for end in wrong if end.believed or not end.said]
    assert all(end.believed for end in ends if not end.lie.method)  # what is honest comes through
