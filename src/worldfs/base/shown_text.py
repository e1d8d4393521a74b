"""Text of any file or peer as a terminal or a log shows it: nothing in it commands, hides or turns around."""

from __future__ import annotations

import json
import re
from typing import Final

# Controls; signs that have no width; what turns the direction of text around; line ends that only some programs know;
# halves of surrogate pairs; tags. (The two joiners that Persian and emoji are written with stay.)
_UNSEEN: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)


def shown_text(text: str, keep: str = "") -> str:
    """Those signs as their codes (`\\x1b`, `\\u202e`), but for `keep`."""
    if text.isprintable():
        return text
    return _UNSEEN.sub(lambda found: found[0] if found[0] in keep else _code(ord(found[0])), text)


def shown_json(value: object) -> str:
    """A value on one line. What a terminal would obey is escaped as JSON has it, and reads back as it was."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if text.isprintable() else _UNSEEN.sub(lambda found: json.dumps(found[0])[1:-1], text)


def _code(number: int) -> str:
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}" if number < 1 << 16 else f"\\U{number:08x}"
