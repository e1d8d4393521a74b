"""`python -m bench`: one measurement that fails is named, and the others are made."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from bench import __main__ as bench


def test_one_that_fails_counts_as_missed_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> dict[str, float]:
        raise RuntimeError("it calls what is gone")

    monkeypatch.setitem(sys.modules, "bench.one", SimpleNamespace(run=broken))
    monkeypatch.setitem(sys.modules, "bench.two", SimpleNamespace(run=lambda: {"two.x": 1.0}))
    monkeypatch.setattr(bench, "names", lambda: ["one", "two"])
    monkeypatch.setattr(bench, "note", lambda figures: None)
    monkeypatch.setattr(bench, "HERE", tmp_path / "bench")
    monkeypatch.setattr(bench, "LATEST", tmp_path / "latest.json")
    assert bench.main([]) == 1
    said = capsys.readouterr()
    assert json.loads((tmp_path / "latest.json").read_text()) == {"two.x": 1.0}
    assert "missed: one" in said.out and "it calls what is gone" in said.err
