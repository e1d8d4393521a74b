"""Credentials: whether a secret or a project token is the right one."""

from __future__ import annotations

from .binding import Binding
from .things import ProjectRules


def secrets_equal(given: str, kept: str) -> bool:
    """Equality that takes as long for a near miss as for a far one. Nothing equals an empty secret."""
    from hmac import compare_digest  # with OpenSSL: few commands compare secrets

    return bool(kept) and compare_digest(given.encode("utf-8", "surrogatepass"), kept.encode())


def holds_project_token(project: ProjectRules, binding: Binding) -> bool:
    """Whether the binding holds the project's present token."""
    return binding.project == project.project_id and secrets_equal(binding.token, project.token)
