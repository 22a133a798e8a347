"""Record what torch.compile would have changed, once for each graph and kind."""

from collections.abc import Sequence
from typing import Any

from ...shared.records import Answer, SemanticsNoted
from ..frames.current_compile import current_compile_id
from ..harmless import Probes
from .graph_facts import GraphFacts


class Notes:
    """Those of one graph, or of a frame that has none."""

    def __init__(self, number: int | None, probes: Probes) -> None:
        self._number = number
        self._probes = probes
        self._compile_id = current_compile_id()
        self._known: set[str] = set()

    def add(self, kind: str, answered: Answer, **detail: Any) -> None:
        """`answered` says what the program got: "eager", or "compiled" where that could not be kept."""
        if kind in self._known:
            return
        self._known.add(kind)
        noted = SemanticsNoted(graph=self._number, kind=kind, answered=answered, **detail)
        self._probes.stream.record(noted, self._compile_id)

    def unused_output(
        self, answered: Answer, facts: GraphFacts, unused: Sequence[int], inputs: Sequence[str]
    ) -> None:
        """No loss used these outputs, which leaves these inputs without a gradient in eager."""
        self.add(
            "unused_output",
            answered,
            outputs=[facts.outputs[i] for i in unused],
            inputs=inputs,
            **self.at(facts.output_places[unused[0]]),
        )

    @staticmethod
    def at(place: tuple[str, int] | None) -> dict[str, Any]:
        """The user's line, where it is known."""
        return {} if place is None else {"file": place[0], "line": place[1]}

    def failed(self, error: BaseException) -> None:
        """What kept eager's semantics does not work with this torch."""
        self._probes.failed("eager semantics", error)
