"""`paos model check`: one line about a configured model; keys are read from safe places only and never shown."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from worldfs.interfaces.cli.main import main
from worldfs.testing.model_api import RawAnswer, ScriptedCall, serving

KEY = "sk-test-4711"
READY = ScriptedCall("ready", {})


def paos(home: Path, *words: str) -> tuple[int, str]:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = main(["--home", str(home), *words])
    assert "Traceback" not in said.getvalue() and KEY not in said.getvalue()
    return code, said.getvalue()


def configured(home: Path, url: str, **more: object) -> None:
    model = {"kind": "openai", "model": "tiny", "baseUrl": url + "/v1", "retries": 0, **more}
    (home / "config.json").write_text(json.dumps({"models": {"planner": model}}))


def test_a_model_that_answers_is_one_line(tmp_path: Path) -> None:
    pytest.importorskip("pydantic_ai", reason="the extra `models`")
    with serving([READY], in_order=True) as api:
        configured(tmp_path, api.url, inputPrice=1, outputPrice=2)
        code, said = paos(tmp_path, "model", "check")
        assert code == 0 and len(said.splitlines()) == 1
        assert "planner: openai tiny" in said and "1000 + 50 tokens, 0.001100 US dollars" in said
        code, said = paos(tmp_path, "--json", "model", "check")
        assert code == 0 and json.loads(said)["ok"] is True and len(json.loads(said)["prompt_sha256"]) == 64
        (row,) = json.loads(paos(tmp_path, "--json", "model", "usage")[1])["models"]
        assert (row["use"], row["model"], row["calls"], row["failed"]) == ("planner", "tiny", 2, 0)
        assert (row["input_tokens"], row["output_tokens"], row["cost_usd"]) == (2000, 100, pytest.approx(0.0022))
        said = paos(tmp_path, "model", "usage")[1]
        assert "planner  tiny  2 calls, 0 without an answer  2000 + 100 tokens  0.002200 US dollars" in said


@pytest.mark.parametrize("answer", ["I am ready.", RawAnswer(500), RawAnswer(200, b"{"), RawAnswer(401)])
def test_a_model_that_does_not_answer_as_asked_is_exit_1(tmp_path: Path, answer: object) -> None:
    pytest.importorskip("pydantic_ai", reason="the extra `models`")
    with serving([answer], in_order=True) as api:  # type: ignore[list-item]
        configured(tmp_path, api.url)
        assert paos(tmp_path, "model", "check")[0] == 1


def test_what_the_caller_can_mend_is_exit_2_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no language model has been called" in paos(tmp_path, "model", "usage")[1]
    assert "no model 'planner' is configured" in paos(tmp_path, "model", "check")[1]
    configured(tmp_path, "http://127.0.0.1:9", retries="often")
    code, said = paos(tmp_path, "model", "check")
    assert code == 2 and "models.planner.retries" in said
    configured(tmp_path, "http://127.0.0.1:9", apiKeyEnv="TINY_KEY")
    monkeypatch.delenv("TINY_KEY", raising=False)
    code, said = paos(tmp_path, "model", "check")
    assert code == 2 and "no TINY_KEY in the environment" in said


def test_a_key_file_that_others_may_read_is_refused_by_name(tmp_path: Path) -> None:
    pytest.importorskip("pydantic_ai", reason="the extra `models`")
    file = tmp_path / "secrets/tiny"
    file.parent.mkdir()
    with serving([READY], in_order=True) as api:
        configured(tmp_path, api.url, apiKeyFile="secrets/tiny")
        code, said = paos(tmp_path, "model", "check")
        assert code == 2 and "secrets/tiny: No such file" in said
        file.write_text(KEY + "\n")
        for mode in (0o644, 0o640, 0o604):
            file.chmod(mode)
            code, said = paos(tmp_path, "model", "check")
            assert code == 2 and "secrets/tiny: others may read it" in said and "chmod 600 secrets/tiny" in said
        assert api.requests == []
        file.unlink()
        os.mkfifo(file, 0o600)  # nobody writes into it
        code, said = paos(tmp_path, "model", "check")
        assert code == 2 and "secrets/tiny is no regular file" in said
        file.unlink()
        file.touch(0o600)
        file.write_text("two\nlines")
        assert paos(tmp_path, "model", "check")[0] == 2
        file.write_text(KEY + "\n")
        assert paos(tmp_path, "model", "check")[0] == 0
    here = [path for path in tmp_path.rglob("*") if path.is_file() and path != file]
    assert not [path for path in here if KEY.encode() in path.read_bytes()]


def test_no_other_command_imports_the_library(tmp_path: Path) -> None:
    """A configured model is a name until it is asked."""
    configured(tmp_path, "http://127.0.0.1:9")
    script = (
        "import sys\n"
        "from worldfs.interfaces.cli.main import main\n"
        f"home = ['--home', {str(tmp_path)!r}]\n"
        "assert main([*home, 'onboard']) == 0 and main([*home, 'status']) == 0\n"
        "main([*home, 'do', 'where is the apple?'])\n"
        "assert not {'pydantic_ai', 'pydantic', 'openai', 'anthropic', 'httpx2'} & set(sys.modules), 'imported'\n"
    )
    environ = {**os.environ, "PAOS_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
