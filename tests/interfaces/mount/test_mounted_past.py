"""The past through a mount: any program reads what a document was."""

import os
import subprocess

from worldfs.interfaces.cli.main import main

TASK = "projects/main/TASK.md"


def test_a_shell_reads_what_a_document_was(operator, home):
    for text in ("one", "two"):
        subprocess.run(
            ["paos", "--home", str(home), "--as", "planner", "write", "TASK.md"],
            input=text.encode(), check=True, capture_output=True,
            env={**os.environ, "PATH": f"{os.path.dirname(os.sys.executable)}:{os.environ['PATH']}"},
        )  # fmt: skip
    names = sorted(os.listdir(operator / f"versions/{TASK}"))
    done = operator.sh(f"cat at/{names[-2]}/{TASK} versions/{TASK}/{names[-1]}; ls at")
    assert done.stdout == "onetwoREADME.md\n"
    assert (operator / f"at/now/{TASK}").stat().st_size == 3
    refused = operator.sh(f"echo x > at/now/{TASK}")
    assert refused.returncode != 0


def test_the_root_of_the_past_says_why_a_path_leads_nowhere(operator, home):
    """What has no past: no time, a page made for each reader, a file without versions before its
    last change, a log, what other programs wrote."""
    assert main(["--home", str(home), "agent", "init", "rio"]) == 0
    (home / "workspace/artifacts").mkdir(exist_ok=True)
    (home / "workspace/artifacts/film.txt").write_text("of a job")
    for path, said in (
        (f"at/yesterday/{TASK}", "yesterday"),
        ("at/now/projects/main/README.md", "README.md"),
        ("at/1d/projects/main/artifacts/film.txt", "it was changed at"),
        ("at/now/agents/rio/journal.jsonl", "no versions of this file"),
        ("at/1d/projects/main/LESSONS.md", "nothing was recorded of it before"),
        ("versions/agents/rio/journal.jsonl/now", "no versions of this file"),
    ):
        root = path.partition("/")[0]
        assert "No such file" in operator.sh(f"cat {path}").stderr
        assert said in os.getxattr(operator / root, "user.paos.error").decode()
        assert said in (operator / root / "last_error").read_text()
