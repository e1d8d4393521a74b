"""scripts/access.py sees each way to judge outside access/; scripts/check runs it on the repository."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import access  # noqa: E402  # after the path is set


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(access, "FREE", {("world/layout", "role"): "declares who reads and writes a file"})
    for name, text in {
        "world/layout/rows.py": "ROW = FileRow('/a', readers, {PLANNER: ''})\n",
        "world/asks.py": (
            "from worldfs.access.judge import judge\n"
            "from worldfs.access.binding import ADMIN, Binding\n"
            "from worldfs.access import decision\n\n\n"
            "def read(binding, row):\n"
            "    if not judge(binding, Verb.READ, row):\n"
            "        raise PlaneError.of(decision)\n"
            "    return Binding(ADMIN, binding.role) if error.code == 'forbidden' else None\n"
        ),
        "access/file_roles.py": "def decide(row, role):\n    return role in row.writers and role == OPERATOR\n",
    }.items():
        path = tmp_path / access.SOURCE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_asking_binding_and_declaring_is_no_judgement(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert access.main(root) == 0, capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("if binding.role == ADMIN: ...", "compares a role: binding.role == ADMIN"),
        ("if role != 'planner': ...", "compares a role"),
        ("if caller in (roles.OPERATOR, 'x'): ...", "compares a role"),
        ("match who:\n    case roles.ADMIN: ...", "matches a role: roles.ADMIN"),
        ("word = {ADMIN: 'all', USER: 'some'}[who]", "decides by role"),
        ("if binding.admin: ...", "asks a binding for .admin"),
        ("secrets = caller.binding.primary", "asks a binding for .primary"),
        ("if who in row.readers: ...", "reads the readers of a row"),
        ("when = row.writers.get(who)", "reads the writers of a row"),
        ("raise NotPermitted('no')", "makes a NotPermitted"),
        ("no = Decision(False, 'x')", "makes a Decision"),
        ("raise PlaneError('forbidden')", "refuses with 'forbidden'"),
        ("raise BadInput('no', code='project_auth_failed')", "refuses with 'project_auth_failed'"),
        ("def f():\n    return 'provisioning_required'", "refuses with 'provisioning_required'"),
        ("from worldfs.access.file_roles import may_read", "imports access.file_roles"),
        ("from worldfs.access import visibility", "imports access.visibility"),
        ("import worldfs.access.project_policy", "imports access.project_policy"),
        ("from ..access.file_roles import may_read", "imports access.file_roles"),
    ],
)
def test_a_module_that_judges_is_named(root: Path, capsys: pytest.CaptureFixture[str], text: str, said: str) -> None:
    (root / access.SOURCE / "world/judges.py").write_text(f"{text}\n")
    assert access.main(root) == 1
    told = capsys.readouterr().err
    assert said in told
    assert "world/judges.py" in told


def test_an_exception_that_nothing_needs_is_named(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / access.SOURCE / "world/layout/rows.py").write_text("")
    assert access.main(root) == 1
    assert "world/layout (role) is an exception that nothing needs" in capsys.readouterr().err
