"""The robot that an instruction is said to: "arm_2, put …", "tell arm_2 to put …", 让arm_2把…."""

from __future__ import annotations

import re
from collections.abc import Collection


def addressed(text: str, robots: Collection[str]) -> tuple[str, str]:
    """The id of the robot, and what is said to it; "" and the whole text where none of these is addressed."""
    ids = "|".join(re.escape(id) for id in sorted(robots, key=len, reverse=True) if id)
    forms = (
        rf"(?:(?:hey|hi|hello|ok|okay|please|请)[\s,，]*)?(?P<id>{ids})\s*[,:，：]\s*(?P<rest>.+)",
        rf"(?:please\s+)?(?:tell|ask|let|have)\s+(?P<id>{ids})\s+(?:to\s+)?(?P<rest>.+)",
        rf"请?(?:让|叫)\s*(?P<id>{ids})\s*[,，]?\s*(?P<rest>[\u4e00-\u9fff].*)",
    )
    for form in forms if ids else ():
        found = re.fullmatch(form, text.strip(), re.IGNORECASE | re.DOTALL)
        if found is not None:
            return next(id for id in robots if id.lower() == found["id"].lower()), found["rest"]
    return "", text
