"""Every script beside this file, on a disk, in memory and on NATS (`*.disk.txt`: on a disk only)."""

from __future__ import annotations

from pathlib import Path

import pytest

from worldfs.testing.behaviour_script import run

pytest.importorskip("worldfs.formats.action")

SCRIPTS = sorted(Path(__file__).parent.glob("*.txt"))
SHARED = [script for script in SCRIPTS if not script.name.endswith(".disk.txt")]
CASES = [(script, disk) for script in SCRIPTS for disk in (True, False) if disk or script in SHARED]


@pytest.mark.parametrize(
    ("script", "disk"), CASES, ids=[f"{script.stem}-{'disk' if disk else 'memory'}" for script, disk in CASES]
)
def test_script(script: Path, disk: bool, tmp_path: Path) -> None:
    run(script, tmp_path, disk=disk)


@pytest.mark.parametrize("script", SHARED, ids=[script.stem for script in SHARED])
def test_script_on_nats(script: Path, tmp_path: Path, nats_address) -> None:
    from worldfs.plugins.nats_store.nats_store import NatsStore

    address = nats_address._replace(ttl_s=60.0)  # a busy machine may be late to renew a shorter lease
    run(script, tmp_path, disk=False, opened=lambda: NatsStore(address))
