"""The text of an input in a cache key, `TensorMetadata(shape=torch.Size([8, 8]), …)`, field by field.

Source: torch/_inductor/codecache.py (extract_tensor_metadata_for_cache_key) and
torch/_subclasses/fake_tensor.py (TensorMetadata), 2.8 to 2.13.
"""

import re

_OPENING, _CLOSING = "([{<", ")]}>"
_DEVICE = re.compile(r"device\(type='(\w+)'(?:, index=(\d+))?\)")
# What follows from other fields, and would only be said twice.
_FOLLOWS_FROM = {"stride": "shape", "storage_bytes": "shape", "memory_format": "stride"}


def fields_of(text: str) -> dict[str, str] | None:
    """The fields by name; None if the text is of something else than a tensor."""
    _, is_tensor, inner = text.partition("TensorMetadata(")
    if not is_tensor:
        return None
    found: dict[str, str] = {}
    depth, item = 0, ""
    for character in inner:
        depth += (character in _OPENING) - (character in _CLOSING)
        if depth < 0 or (character == "," and depth == 0):
            name, _, value = item.strip().partition("=")
            found[name] = _plain(value)
            item = ""
            if depth < 0:
                break
        else:
            item += character
    return found


def differing_fields(before: dict[str, str], after: dict[str, str]) -> list[tuple[str, str, str]]:
    """Name, old and new value of each field that differs and does not follow from another that does."""
    differing = {name for name in before if name in after and before[name] != after[name]}
    return [
        (name, before[name], after[name])
        for name in before
        if name in differing and _FOLLOWS_FROM.get(name) not in differing
    ]


def _plain(value: str) -> str:
    if value.startswith("torch.Size("):
        value = value.removeprefix("torch.Size(").removesuffix(")")
    value = _DEVICE.sub(lambda found: found[1] + (f":{found[2]}" if found[2] else ""), value)
    return value.removeprefix("torch.")
