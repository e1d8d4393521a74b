"""Suggestions are cheap: the plans that are tried for them grow with the number of things, and no faster."""

from __future__ import annotations

from dataclasses import replace

import pytest

from worldfs.planning.planner import suggestions


@pytest.mark.parametrize("count", [3, 6, 12, 24])
def test_the_plans_tried_for_suggestions_move_few_things_in_all(make, monkeypatch, count):
    """No box is large enough for all, so no plan with "everything" is feasible: the next box and thing are not tried
    with all the others again."""
    planned: list[int] = []
    build = suggestions.build_plan

    def counted(groups, scene, **given):
        planned.append(sum(len(group) for group in groups))
        return build(groups, scene, **given)

    monkeypatch.setattr(suggestions, "build_plan", counted)
    things = [make["can"](f"can_{n:02d}", 0.35 + 0.07 * (n % 5), -0.3 + 0.08 * (n // 5)) for n in range(count)]
    table = make["scene"]().furniture[0]
    boxes = tuple(make["basket"](f"basket_{n}", 0.4, -0.5 + n) for n in range(2))
    small = tuple(replace(box, size=(0.1, 0.1, 0.05)) for box in boxes)
    said = suggestions.suggestions(make["scene"](*things, furniture=(table, *small)), "en")
    assert said
    assert sum(planned) <= len(suggestions.FORMS["en"]) * max(suggestions.MOST_PLANNED, count)
