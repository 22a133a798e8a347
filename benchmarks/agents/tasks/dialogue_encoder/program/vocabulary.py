"""Words as numbers."""

from collections.abc import Iterable

PADDING = 0
_FIRST = 1


class Vocabulary:
    """Gives each new word the next number, up to a limit; words after that share the last one."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return self.limit + _FIRST

    def numbers(self, words: Iterable[str]) -> list[int]:
        return [self._number(word) for word in words]

    def _number(self, word: str) -> int:
        if word not in self._numbers:
            self._numbers[word] = min(len(self._numbers) + _FIRST, self.limit)
        return self._numbers[word]
