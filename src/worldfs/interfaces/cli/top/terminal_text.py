"""Text of any file or peer as a terminal may show it: nothing in it commands, hides or turns around."""

from __future__ import annotations


def shown_text(text: str, keep: str = "") -> str:
    """Signs that a terminal obeys, leaves out or turns around (escape, zero width, right to left) as their codes."""
    return "".join(sign if sign.isprintable() or sign in keep else _code(sign) for sign in text)


def shown_file(data: bytes, most: int) -> str:
    """The first `most` bytes of a file; bytes that are no UTF-8 as their codes. Lines stay lines."""
    text = data[:most].decode("utf-8", "backslashreplace").replace("\r\n", "\n").expandtabs(4)
    return shown_text(text, keep="\n")


def _code(sign: str) -> str:
    number = ord(sign)
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"
