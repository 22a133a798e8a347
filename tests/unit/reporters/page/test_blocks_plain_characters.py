"""What stands in the place of characters that a terminal's encoding lacks."""

import io

import pytest

from dynamo_cli.main import use_what_it_has
from dynamo_reporters.page.blocks import bar


class Terminal(io.TextIOWrapper):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def written(
    text: str,
    encoding: str,
    kind: type[io.TextIOWrapper] = io.TextIOWrapper,
    env: dict[str, str] | None = None,
) -> bytes:
    raw = io.BytesIO()
    stream = kind(raw, encoding=encoding)
    use_what_it_has(stream, env or {})
    stream.write(text)
    stream.flush()
    return raw.getvalue()


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ("ascii", rb"-> ##- 3 us ... \u4f60"),
        ("cp1252", "-> ##- 3 µs … ".encode("cp1252") + rb"\u4f60"),
        ("utf-8", "→ ██▏ 3 µs … 你".encode()),
    ],
)
def test_an_encoding_gets_what_it_has(encoding: str, expected: bytes) -> None:
    assert written("→ ██▏ 3 µs … 你", encoding) == expected


def test_a_bar_is_as_long_in_ascii() -> None:
    for value in range(1, 100):
        text = bar(value, 100)
        assert len(written(text, "ascii")) == len(text)


@pytest.mark.parametrize(
    ("env", "is_plain"),
    [
        ({"LANG": "C"}, True),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, True),  # what Python makes of it
        ({"LC_ALL": "POSIX", "LANG": "en_US.UTF-8"}, True),
        ({}, False),  # as in most containers, whose terminals have UTF-8
        ({"LANG": "C", "LC_CTYPE": "de_DE.UTF-8"}, False),
        ({"LANG": "C.UTF-8"}, False),
        ({"LANG": "C", "PYTHONUTF8": "1"}, False),
        ({"LANG": "C", "PYTHONIOENCODING": "utf-8"}, False),
        ({"LC_ALL": "", "LANG": "C"}, True),
        ({"LC_ALL": "en_US.UTF-8", "LANG": "C"}, False),
        ({"LANG": "POSIX", "LC_CTYPE": ""}, True),
        ({"LC_CTYPE": "C"}, False),
    ],
)
def test_a_terminal_in_the_c_locale_gets_ascii(env: dict[str, str], is_plain: bool) -> None:
    assert written("█", "utf-8", Terminal, env) == (b"#" if is_plain else "█".encode())
    assert written("█", "utf-8", env=env) == "█".encode()  # a file loses nothing
