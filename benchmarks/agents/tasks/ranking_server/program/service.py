"""What answers a request: it scores the candidates and keeps the best."""

from dataclasses import dataclass

import torch
from ranker import Ranker


@dataclass(frozen=True)
class Request:
    """One user who looks at the shop."""

    user: torch.Tensor
    country: str


@dataclass(frozen=True)
class Reply:
    """The best items, the best one first."""

    items: list[int]
    scores: list[float]


class RankingService:
    """Holds the candidates and the compiled model."""

    def __init__(self, model: Ranker, candidates: torch.Tensor, shown: int = 3) -> None:
        self.candidates = candidates
        self.shown = shown
        self.model = model.eval()
        self.score = torch.compile(self.model)

    @torch.no_grad()
    def answer(self, request: Request) -> Reply:
        scores = self.score(request.user, self.candidates, request.country)
        best = torch.topk(scores, self.shown)
        return Reply(best.indices.tolist(), best.values.tolist())
