"""Forwards and backwards of AOTAutograd, from our records of them or from torch's text."""

from collections.abc import Container, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from ..model import AotPair, Optimizer, Process, SavedTensor
from ..shared.early_records import OptimizerMade
from ..shared.graph_records import GraphsPaired
from .aot_text import (
    AOT_PAIRS_FROM_OUR_TEXT,
    AOT_PAIRS_FROM_TEXT,
    AOT_TEXTS,
    AotTexts,
    TextsOfPair,
    paired_by,
)
from .begun import BegunCompiles
from .graphs import GraphBuilder
from .payloads import Handler, place_of, tensors_of
from .records import Damaged, Record
from .structured import structured

_LONGEST_KEPT = 1 << 20  # characters of a pair's texts


class PairBuilder:
    """Fills `pairs` and `optimizers`."""

    def __init__(
        self, process: Process, begun: BegunCompiles, graphs: GraphBuilder, contents: Container[str]
    ) -> None:
        self._process = process
        self._begun = begun
        self._graphs = graphs
        self._contents = contents
        self._aot_texts = AotTexts()

    def handlers(self) -> dict[str, Handler]:
        """The handler of each kind of record."""
        return {GraphsPaired.NAME: self._aot_pair, OptimizerMade.NAME: self._optimizer}

    def takes_text(self, name: str) -> bool:
        """Whether pairs are to be read from the texts of this name."""
        pairs = AOT_PAIRS_FROM_OUR_TEXT if self._process.is_ours else AOT_PAIRS_FROM_TEXT
        return name in AOT_TEXTS and (pairs in self._contents or AOT_PAIRS_FROM_TEXT in self._contents)

    def add_text(self, record: Record, name: str) -> None:
        """A text of AOTAutograd's: all that there is of what comes from a cache, or is in a plain trace."""
        hints = self._graphs.hints(self._begun.id_of(record))
        texts = self._aot_texts.add(name, record.payload)
        if texts is not None:
            self._add_pair(pair_of_texts(texts, hints), record)

    def _aot_pair(self, record: Record) -> None:
        self._aot_texts.expect_texts_of_pair()
        paired = structured(GraphsPaired, record)
        for counts in (paired.joint or {}, paired.forward, paired.backward, paired.recomputed):
            if any(count < 1 for count in counts.values()):
                raise Damaged("an operator that is there, but not once")
        self._add_pair(_pair(paired), record)

    def _add_pair(self, pair: AotPair, record: Record) -> None:
        compile_id, attempt = self._begun.id_of(record), record.metadata.get("attempt", 0)
        self._process.pairs.append(replace(pair, compile_id=compile_id, attempt=attempt))

    def _optimizer(self, record: Record) -> None:
        made = structured(OptimizerMade, record)
        self._process.optimizers.append(Optimizer(made.name, made.module, made.file))


def pair_of_texts(texts: TextsOfPair, hints: Mapping[str, str]) -> AotPair:
    """What the texts of a pair say, with the values of symbolic sizes in them."""
    is_short = sum(map(len, filter(None, texts))) <= _LONGEST_KEPT
    return (_known_pair if is_short else _known_pair.__wrapped__)(texts, frozenset(hints.items()))


@lru_cache(64)  # a layer that is repeated, and the other side of a comparison, have the same texts
def _known_pair(texts: TextsOfPair, hints: frozenset[tuple[str, str]]) -> AotPair:
    return _pair(paired_by(texts, dict(hints)))


def _pair(paired: GraphsPaired) -> AotPair:
    """A pair of which it is not said yet in which compile it was made."""
    return AotPair(
        compile_id=None,
        attempt=0,
        graph=paired.graph,
        joint=paired.joint,
        forward=paired.forward,
        backward=paired.backward,
        inputs=paired.inputs,
        outputs=paired.outputs,
        tangents=paired.tangents,
        gradients=paired.gradients,
        saved=tuple(map(_saved, paired.saved)),
        recomputed=paired.recomputed,
    )


def _saved(content: Mapping[str, Any]) -> SavedTensor:
    return SavedTensor(
        name=content["name"],
        kind=content["kind"],
        operator=content["operator"],
        tensor=next(iter(tensors_of(content)), None),
        symbol=content.get("symbol"),
        bytes=content["bytes"],
        storage=content["storage"],
        storage_bytes=content["storage_bytes"],
        place=place_of(content),
    )
