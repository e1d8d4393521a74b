"""The reviewers of an order: the critic first, then those of installed packages, which can only add refusals.

    [project.entry-points."worldfs.reviewers"]
    kitchen = "kitchen_rules:KitchenRules"     # (PluginContext) -> Reviewer

A package's reviewer gets copies, so that what runs is what the critic judged. One that cannot be used, that breaks or
that answers with anything but findings refuses every order until it is mended or uninstalled: an installed
check does not disappear silently. One that is made as None is not configured, and is not asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from worldfs.base.chat_model import ModelUnavailable
from worldfs.base.driver import PluginContext, Reviewer, Run, SlowReviewer
from worldfs.base.errors import UserError
from worldfs.base.messages import coded
from worldfs.base.model import Finding, Order, Profile, Scene
from worldfs.base.plugin_calls import called, checked, plugin_name
from worldfs.base.plugin_registry import PluginGroup

AddedReviewer = Reviewer | SlowReviewer
ReviewerFactory = Callable[[PluginContext], AddedReviewer | None]
REVIEWERS: Final = PluginGroup[ReviewerFactory](
    "worldfs.reviewers", {"model": "worldfs.planning.model_critic:model_critic"}
)
FAILED: Final = "REVIEWER_FAILED"


class ReviewerChain:
    """The critic, and those `added`: tried in the order of their names, each only while none before it has refused."""

    def __init__(
        self, critic: Reviewer, context: PluginContext, added: Mapping[str, ReviewerFactory] = REVIEWERS
    ) -> None:
        self._critic = critic
        made = {name: _made(name, added, context) for name in sorted(added)}
        self.added = {name: one for name, one in made.items() if one is not None}

    def review(
        self, order: Order, scene: Scene, profile: Profile | None, run: Run, own: Profile | None = None
    ) -> Sequence[Finding]:
        """`own`: of a robot whose document has another one's profile; it holds as well."""
        findings = list(self._critic.review(order, scene, profile))
        if own is not None and not refuses(findings):
            findings += self._critic.review(order, scene, own)
        return findings if refuses(findings) else [*findings, *self.review_added(order, scene, profile, run)]

    def review_added(self, order: Order, scene: Scene, profile: Profile | None, run: Run) -> Sequence[Finding]:
        """What the packages' reviewers find. For an order that the critic does not judge, a session's: they alone."""
        findings: list[Finding] = []
        for name, reviewer in self.added.items():
            if refuses(findings):
                break
            if isinstance(reviewer, Finding):
                findings.append(replace(reviewer, job=order.id))
                continue
            try:
                if isinstance(reviewer, SlowReviewer):
                    found = reviewer.review_during(order, scene, profile, run)
                else:
                    found = reviewer.review(order, scene, profile)
            except ModelUnavailable:
                raise
            except Exception as error:  # whatever a package raises
                found = [_failed(name, f"{type(error).__name__}: {error}")]
            findings += [replace(item, job=order.id) for item in found]
        return findings


def refuses(findings: Sequence[Finding]) -> bool:
    """Whether any of them is more than a warning."""
    return any(not item.warning for item in findings)


def _made(name: str, added: Mapping[str, ReviewerFactory], context: PluginContext) -> AddedReviewer | Finding | None:
    where = f"{REVIEWERS.group} {name}"
    try:
        made = called(lambda: added[name](context), where)
        return None if made is None else checked(made, SlowReviewer if _is_slow(made) else Reviewer)
    except UserError as error:
        return _failed(name, error.found)
    except Exception as error:  # whatever a package raises
        return _failed(name, f"{type(error).__name__}: {error}")


def _is_slow(made: object) -> bool:
    return called(lambda: isinstance(made, SlowReviewer), plugin_name(made))


def _failed(name: str, found: str) -> Finding:
    expected, fix = coded("world.reviewer"), coded("world.mend_package")
    return Finding(FAILED, f"plug-in {REVIEWERS.group} {name}", expected, found[:500], fix)
