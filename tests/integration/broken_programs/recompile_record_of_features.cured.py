"""A record of a request, which has features of its own, is scored and gets the score."""

import torch


def score(user, item):
    rate = (user * item).sum(-1)
    score = rate.sigmoid()
    return score, score.argsort()


compiled = torch.compile(score, backend="eager")
for number in range(11):
    record = {name: torch.linspace(0, 1, 8).reshape(2, 4) for name in ("user", "item")}
    record |= {f"feature {each}": torch.ones(2) for each in range(number)}
    record["score"], record["rank"] = compiled(record["user"], record["item"])
    print(number, [round(each, 4) for each in record["score"].tolist()], len(record))
