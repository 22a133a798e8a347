import torch
from catalogue import FEATURES, MARKETS, make_items
from ranker import Ranker
from service import RankingService, Request


def service():
    torch.manual_seed(0)
    return RankingService(Ranker(), make_items(20, seed=0))


def test_the_best_item_comes_first():
    reply = service().answer(Request(torch.rand(FEATURES), "de"))
    assert len(reply.items) == 3
    assert reply.scores == sorted(reply.scores, reverse=True)


def test_the_market_changes_the_scores():
    user = torch.rand(FEATURES)
    replies = {country: service().answer(Request(user, country)).scores for country in MARKETS}
    assert len({round(scores[0], 5) for scores in replies.values()}) == len(MARKETS)
