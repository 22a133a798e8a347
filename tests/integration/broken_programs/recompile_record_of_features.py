"""A record of a request, which has features of its own, is scored and gets the score.

kind: recompile limit
advice: put it in after the call
source: https://github.com/pytorch/tensordict/issues/1606
"""

import torch


def score(record):
    rate = (record["user"] * record["item"]).sum(-1)
    record["score"] = rate.sigmoid()  # cause
    record["rank"] = record["score"].argsort()
    return record


compiled = torch.compile(score, backend="eager")
for number in range(11):
    record = {name: torch.linspace(0, 1, 8).reshape(2, 4) for name in ("user", "item")}
    record |= {f"feature {each}": torch.ones(2) for each in range(number)}
    scored = compiled(record)
    print(number, [round(each, 4) for each in scored["score"].tolist()], len(scored))
