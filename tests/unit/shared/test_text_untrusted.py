"""What is done about text and values from a stranger's recording."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from dynamo_core.model import Place
from dynamo_core.shared.text import printable, printable_json
from dynamo_core.shared.validation import matches


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("plain", "plain"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\x9b2J", "\\x9b2J"),
        ("\r\x7f\x00", "\\x0d\\x7f\\x00"),
        ("a\u202eb\u2066c\u200fd\ud800", "a\\x202eb\\x2066c\\x200fd\\xd800"),
        ("żółw 🐢", "żółw 🐢"),
    ],
)
def test_what_a_terminal_would_obey_is_spelled_out(text: str, safe: str) -> None:
    assert printable(text) == safe


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'{"a": "b\\n"}', {"a": "b\\n"}),
        (r'{"\u001b": ["\u009b", "\b"]}', {"\\x1b": ["\\x9b", "\\x08"]}),
        ('["\x7f", "\x9b"]', ["\\x7f", "\\x9b"]),
        ('["\x7f"]', ["\\x7f"]),
        (r'["\\u001b", "\n\t\"\/"]', ["\\u001b", '\n\t"/']),
    ],
)
def test_json_is_made_printable_however_it_spells_a_character(text: str, value: Any) -> None:
    assert printable_json(text) == value


@dataclass
class Sample:
    name: str
    place: Place | None = None
    seconds: float | None = None
    rows: tuple[tuple[int, str], ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)


@pytest.mark.parametrize(
    ("item", "is_right"),
    [
        (Sample("a"), True),
        (Sample("a", Place("x.py", 1), 2, ((1, "b"),), {"any": object()}), True),
        (Sample(["a"]), False),  # type: ignore[arg-type]
        (Sample("a", Place("x.py", "1")), False),  # type: ignore[arg-type]
        (Sample("a", ("x.py", 1)), False),  # type: ignore[arg-type]
        (Sample("a", None, float("nan")), False),
        (Sample("a", None, 10**400), False),
        (Sample("a", None, None, ((1, "b", 2),)), False),  # type: ignore[arg-type]
        (Sample("a", None, None, ((None, "b"),)), False),  # type: ignore[arg-type]
        (Sample("a", extra={1: 2}), False),  # type: ignore[dict-item]
    ],
)
def test_only_values_of_the_annotated_types_fit(item: Sample, is_right: bool) -> None:
    assert matches(item, Sample) is is_right
