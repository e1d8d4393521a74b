"""Every wrong answer of every port of a package: no kernel ends, nobody else is harmed, nothing is believed."""

import pytest

pytest.importorskip("gymnasium", reason="environments are an extra")

from worldfs.testing import lying_calls, lying_kernels

pytestmark = pytest.mark.proof
NTH = 12  # kernels


@pytest.mark.parametrize("first", range(NTH))
def test_no_lie_of_a_part_of_a_kernel_is_believed(tmp_path, first):
    found = lying_kernels.run(tmp_path, lying_kernels.every(NTH, first))
    assert found.code == 0 and "Traceback" not in found.printed, found.printed[-3000:]
    assert set(found.honest.values()) == {"succeeded"}, found.honest
    assert not [str(end.lie) for end in found.ends if end.believed]
    assert not [str(end.lie) for end in found.ends if end.state != "failed" or not end.said.strip()]
    print(f"{len(found.ends)} liars in one kernel, 0 believed")


@pytest.mark.parametrize("port", lying_calls.PORTS)
def test_no_lie_of_a_backend_or_an_importer_is_believed(tmp_path, port):
    ends = [end for end in lying_calls.PORTS[port](tmp_path) if end.lie.method]
    assert ends and not [(str(end.lie), end.said) for end in ends if end.believed or not end.said]
    print(f"{len(ends)} lies of {port}, 0 believed")
