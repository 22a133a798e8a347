"""What a mistyped name was meant to be."""

from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """`did you mean 'guards'?`, or None where nothing known is near."""
    import difflib  # 5 ms, in a program's process as well: only for who mistyped

    near = difflib.get_close_matches(word, list(known), n=1)
    return f"did you mean {near[0]!r}?" if near else None
