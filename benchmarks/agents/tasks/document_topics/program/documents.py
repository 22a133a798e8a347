"""Documents of several kinds, as bags of word features."""

from dataclasses import dataclass

import torch

KINDS = ("contract", "invoice", "letter", "patent", "manual")
FEATURES = 20


@dataclass(frozen=True)
class Document:
    """The kind of a document, as its place in KINDS, and its features."""

    kind: int
    features: torch.Tensor


def make_documents(count: int, seed: int) -> list[Document]:
    """Documents of all kinds, in an order of their own."""
    generator = torch.Generator().manual_seed(seed)
    kinds = torch.randint(len(KINDS), (count,), generator=generator).tolist()
    return [Document(kind, torch.rand(FEATURES, generator=generator)) for kind in kinds]
