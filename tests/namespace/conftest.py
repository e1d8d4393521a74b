"""The fixtures of a served world, which the tests of the namespace share."""

from tests.world.conftest import served

__all__ = ["served"]
