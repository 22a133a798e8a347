import torch


@torch.compile(backend="eager")
def suppressed(boxes, scores, idxs):
    corners = boxes[:, :2]
    distance = (corners[:, None] - corners[None]).abs().sum(-1)
    same_class = idxs[:, None] == idxs[None]
    return scores / torch.where(same_class, torch.exp(-(distance**2)), 0.0).sum(1)


torch.manual_seed(0)
for classes in ((0, 0, 1, 1, 2), (0, 1, 1, 1, 0), (2, 2, 2, 0, 1)):
    kept = suppressed(torch.rand(5, 4), torch.rand(5), torch.tensor(classes))
    print([round(each, 3) for each in kept.tolist()])
