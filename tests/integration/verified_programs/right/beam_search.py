"""The best sequences are kept in a list, with equal scores among them."""

import torch

scores = torch.tensor([[0.5, 0.5, 0.1], [0.3, 0.9, 0.9], [0.2, 0.2, 0.2]])


@torch.compile
def step(beams):
    found = [
        (score + scores[last, k], [*sequence, k])
        for score, sequence, last in beams
        for k in range(scores.shape[1])
    ]
    best = torch.topk(torch.stack([score for score, _ in found]), 2, sorted=True).indices
    return best, found


beams = [(torch.zeros(()), [], 0)]
for _ in range(3):
    best, found = step(beams)
    beams = [(found[k][0], found[k][1], found[k][1][-1]) for k in best.tolist()]
print([round(float(score), 3) for score, _, _ in beams])
