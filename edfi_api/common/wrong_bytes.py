"""What is said of bytes that are not in the encoding of a text."""

UTF_8 = "utf-8"
# Bytes in front of one that is wrong.
_SHOWN = 24


def wrong_byte(error: UnicodeDecodeError, charset: str = UTF_8, position: int = 0) -> str:
    """Say where the byte is and what to do; `position` is that of the decoded part in the whole text."""
    before = error.object[max(0, error.start - _SHOWN) : error.start].decode(charset, errors="ignore")
    behind = f", behind {before!r}" if before and before.isprintable() else ""
    advice = " Send UTF-8, or declare the encoding, such as Content-Type: application/json; charset=windows-1252."
    return (
        f"it is not {charset.upper()}: byte 0x{error.object[error.start]:02X} at position {position + error.start}"
        f"{behind}.{advice if charset == UTF_8 else ''}"
    )
