"""How far a point is from a straight piece of a way."""

import pytest

from worldfs.base.straight_way import distance


@pytest.mark.parametrize(
    ("point", "far"),
    [((2.0, 3.0), 3.0), ((2.0, -1.5, 9.0), 1.5), ((1.0, 0.0), 0.0), ((-3.0, 4.0), 5.0), ((7.0, 4.0), 5.0)],
)
def test_it_is_from_the_nearest_point_of_the_piece_and_not_of_its_line(point, far):
    assert distance(point, (0.0, 0.0), (4.0, 0.0)) == distance(point, (4.0, 0.0), (0.0, 0.0)) == pytest.approx(far)


def test_of_a_piece_without_length_it_is_from_its_point():
    assert distance((3.0, 4.0), (0.0, 0.0), (0.0, 0.0)) == 5.0
