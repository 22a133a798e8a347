"""The search for the node of a graph that is wrong, and what it leaves behind."""

from collections import Counter
from unittest.mock import MagicMock, Mock

import pytest
import torch._dynamo

from dynamo_core.capture.interventions import verify
from dynamo_core.capture.interventions.verify import Found, Verifier
from dynamo_core.capture.interventions.verify_budget import VerifyBudget


def test_a_search_takes_back_what_it_counts_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    counters = torch._dynamo.utils.counters
    monkeypatch.setitem(counters, "stats", Counter(unique_graphs=3))
    monkeypatch.setitem(counters, "inductor", Counter(fxgraph_cache_miss=2))
    counters.pop("search", None)

    def search(*_: object) -> Found:
        counters["inductor"]["fxgraph_cache_miss"] += 5  # of the backend that the search calls
        counters["search"]["backend"] += 1
        counters["stats"]["unique_graphs"] += 1  # a graph that another thread captures meanwhile
        return Found(reason="not found")

    monkeypatch.setattr(verify, "first_wrong_node", search)
    found = Verifier(MagicMock(), VerifyBudget(None)).search(Mock(), Mock(), Mock())
    assert found.reason == "not found"
    assert counters["inductor"] == {"fxgraph_cache_miss": 2}
    assert "search" not in counters
    assert counters["stats"] == {"unique_graphs": 4}
