"""A record of where torch.compile is not like eager, as a part of the model; what is wrong with it raises."""

from ..model import Place, SemanticDifference
from ..shared.records import SemanticsNoted


def semantic_difference(noted: SemanticsNoted) -> SemanticDifference:
    """What the keeper of eager's semantics noted of a graph, or of a frame."""
    return SemanticDifference(
        kind=noted.kind,
        graph=noted.graph,
        answered=noted.answered,
        place=None if noted.file is None or noted.line is None else Place(noted.file, noted.line),
        outputs=tuple(noted.outputs or ()),
        inputs=tuple(noted.inputs or ()),
        compiled=noted.compiled,
        eager=noted.eager,
    )
