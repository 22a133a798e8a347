"""A record of where torch.compile is not like eager, as a part of the model; what is wrong with it raises."""

from collections.abc import Mapping
from typing import Any

from ..model import Place, SemanticDifference

ANSWERS = ("eager", "compiled", "expected")


def semantic_difference(content: Mapping[str, Any]) -> SemanticDifference:
    """What the keeper of eager's semantics noted of a graph, or of a frame."""
    if content["answered"] not in ANSWERS:
        raise ValueError(f"{content['answered']!r} is no answer")
    graph = content["graph"]
    return SemanticDifference(
        kind=str(content["kind"]),
        graph=None if graph is None else int(graph),
        answered=content["answered"],
        place=Place(str(content["file"]), int(content["line"])) if content.get("file") is not None else None,
        outputs=tuple(map(str, content.get("outputs", ()))),
        inputs=tuple(map(str, content.get("inputs", ()))),
        compiled=_text(content.get("compiled")),
        eager=_text(content.get("eager")),
    )


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
