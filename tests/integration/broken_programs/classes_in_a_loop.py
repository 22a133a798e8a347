"""A loop over the classes that are there, each of which selects its boxes.

kind: graph break
advice: do not loop over what was found

Made after https://github.com/MrParosk/soft_nms/pull/14
"""

import torch


@torch.compile(backend="eager")
def suppressed(boxes, scores, idxs):
    kept = torch.zeros_like(scores)
    for class_id in torch.unique(idxs):  # cause
        of_class = torch.where(idxs == class_id)[0]
        corners = boxes[of_class, :2]
        distance = (corners[:, None] - corners[None]).abs().sum(-1)
        kept[of_class] = scores[of_class] / torch.exp(-(distance**2)).sum(1)
    return kept


torch.manual_seed(0)
for classes in ((0, 0, 1, 1, 2), (0, 1, 1, 1, 0), (2, 2, 2, 0, 1)):
    kept = suppressed(torch.rand(5, 4), torch.rand(5), torch.tensor(classes))
    print([round(each, 3) for each in kept.tolist()])
