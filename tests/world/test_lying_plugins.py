"""A few lies of every port of a package, in one kernel beside an honest robot; `make proof` tries them all."""

import pytest

pytest.importorskip("gymnasium", reason="environments are an extra")

from worldfs.testing import lying_calls, lying_kernels


@pytest.mark.slice(4)
@pytest.mark.parametrize("first", range(4))
def test_no_kernel_ends_nobody_else_is_harmed_and_nothing_is_believed(tmp_path, first):
    found = lying_kernels.run(tmp_path, lying_kernels.every(50, first))
    assert len(found.ends) >= 60
    assert found.code == 0 and "Traceback" not in found.printed, found.printed[-3000:]
    assert found.honest == dict.fromkeys(("honest_1", "honest_2", "honest_s"), "succeeded")
    assert not [str(end.lie) for end in found.ends if end.believed]
    assert not [str(end.lie) for end in found.ends if end.state != "failed" or not end.said.strip()]


@pytest.mark.parametrize("port", lying_calls.PORTS)
def test_no_wrong_answer_of_a_backend_or_an_importer_is_believed(tmp_path, port):
    ends = lying_calls.PORTS[port](tmp_path)
    wrong = [end for end in ends if end.lie.method]
    assert wrong and not [(str(end.lie), end.said) for end in wrong if end.believed or not end.said]
    assert all(end.believed for end in ends if not end.lie.method)  # what is honest comes through
