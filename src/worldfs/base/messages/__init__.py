"""Messages as data: a code with arguments, and for each code its text in every language (`*_messages.py`)."""

from . import common_messages, tree_messages  # noqa: F401  # loaded: they are said when no file can be opened
from .coded_text import CodedText, as_plain, coded, kept_text, parts, read_coded, render, stored_form

__all__ = ["CodedText", "as_plain", "coded", "kept_text", "parts", "read_coded", "render", "stored_form"]
