"""A fresh process of one thread for a part of a test: what forks, changes its user or its limits."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def in_one_thread(work: Callable[P, R], *given: P.args, **named: P.kwargs) -> R:
    """Calls a function of a module there, and returns what it returns or raises."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *given, **named).result()
