"""For every test: a property is no stopwatch, so a busy machine fails none; Ctrl-C is heard; packages of a test."""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings

WHOLE = bool(os.environ.get("PAOS_TEST_WHOLE"))  # `make mutants`: a fault may be seen by one case alone

# The same examples in each run: what fails has failed by the change. `make proof` looks for further examples.
settings.register_profile(
    "house", max_examples=100 if WHOLE else 24, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)  # fmt: skip
settings.register_profile("fast", settings.get_profile("house"), max_examples=16)
settings.register_profile("search", settings.get_profile("house"), max_examples=200, derandomize=False)
settings.load_profile("house")

# A shell starts what runs in the background deaf to it, and all that a test starts would be so too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # under nohup
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

WHOLLY_PROOF = re.compile(r"^pytestmark = \[?pytest\.mark\.proof\b", re.M)

gc.disable()  # until all is collected: what the tests' modules hold is never garbage


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A file that is nothing but proof is not loaded where none is asked for, but by its own name."""
    if config.getoption("markexpr") != "not proof" or not collection_path.match("proof/test_*.py"):
        return None
    named = any(word.partition("::")[0].endswith(collection_path.name) for word in config.args)
    return True if not named and WHOLLY_PROOF.search(collection_path.read_text("utf-8")) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`slice(n)`: of the cases of this test, every nth is a test of its own right, and the others are proof.

    `slice(n, k)`: the first of them is number k. `slice(0)`: all are proof. With PAOS_TEST_WHOLE they all are tests.
    """
    if WHOLE:
        return
    seen: Counter[str] = Counter()
    for item in items:
        part = item.get_closest_marker("slice")
        if part is not None:
            name, (every, first) = item.nodeid.partition("[")[0], (*part.args, 0)[:2]
            if not every or seen[name] % every != first:
                item.add_marker(pytest.mark.proof)
            seen[name] += 1


def pytest_collection_finish() -> None:
    """No collection of garbage looks at all the modules and tests again: that was a third of a second each time."""
    gc.freeze()
    gc.enable()
    gc.freeze = lambda: None  # a kernel of a test would keep the garbage of all tests before it, with its open files


@pytest.fixture
def install(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Installs a package for one test: its modules by name, and its entry points as {group: {name: value}}."""

    def put(package: str, points: Mapping[str, Mapping[str, str]], **modules: str) -> Path:
        place = tmp_path_factory.mktemp(package)
        info = place / f"{package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        text = "".join(f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in named.items())
                       for group, named in points.items())  # fmt: skip
        (info / "entry_points.txt").write_text(text)
        for module, source in modules.items():
            (place / f"{module}.py").write_text(source)
            monkeypatch.delitem(sys.modules, module, raising=False)
        monkeypatch.syspath_prepend(str(place))
        return place

    return put


@pytest.fixture(scope="session")
def nats_server(tmp_path_factory: pytest.TempPathFactory):
    """The address of one server for all tests of a session, on loopback, at a port of its own.

    What needs it is skipped, with the reason, where there is no client or no program.
    """
    pytest.importorskip("nats", reason="the client of NATS is not installed (worldfs[fleet])")
    from worldfs.base.errors import MissingRequirement
    from worldfs.plugins.nats_store.server_binary import find_server
    from worldfs.plugins.nats_store.store_opening import open_nats_store

    try:
        find_server({})
    except MissingRequirement as error:
        pytest.skip(str(error))
    store = open_nats_store("nats", str(tmp_path_factory.mktemp("nats")))
    yield store.address
    store.close()


@pytest.fixture
def nats_address(nats_server):
    """A bucket of its own on that server; leases that live 2 s."""
    return nats_server._replace(bucket=f"test-{uuid4().hex[:12]}", ttl_s=2.0)
