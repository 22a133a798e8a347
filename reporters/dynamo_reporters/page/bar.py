"""Bars of block characters, for terminals and plain text."""


def bar(value: float, longest: float, width: int = 24) -> str:
    """A bar of block characters, `width` cells for `longest`; whatever is more than nothing is seen."""
    if longest <= 0 or value <= 0:
        return ""
    eighths = max(1, round(min(value / longest, 1.0) * width * 8))
    return "█" * (eighths // 8) + (" ▏▎▍▌▋▊▉"[eighths % 8] if eighths % 8 else "")
