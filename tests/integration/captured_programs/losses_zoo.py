"""Loss functions of torch with weights, smoothing, reductions and masks, as functions and as modules."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
weights = torch.tensor([0.2, 0.5, 0.3])


def classification(logits, labels):
    return (
        F.cross_entropy(logits, labels, weight=weights, label_smoothing=0.1),
        F.cross_entropy(logits, logits.flip(-1).softmax(-1).detach()),
        F.nll_loss(logits.log_softmax(-1), labels, ignore_index=1),
        F.multi_margin_loss(logits, labels),
        F.binary_cross_entropy_with_logits(logits, F.one_hot(labels, 3).float(), pos_weight=weights),
        F.cross_entropy(logits, labels, reduction="none").topk(2).values.mean(),
    )


def regression(x, y):
    return (
        F.smooth_l1_loss(x, y, beta=0.5),
        F.kl_div(x.log_softmax(-1), y.log_softmax(-1), log_target=True, reduction="batchmean"),
        F.cosine_embedding_loss(x, y, torch.tensor([1, -1, 1, 1])),
        F.poisson_nll_loss(x, y.abs()),
        F.gaussian_nll_loss(x, y, torch.full_like(x, 0.5)),
        F.hinge_embedding_loss(x, y.sign()),
    )


logits = torch.randn(4, 3, requires_grad=True)
labels = torch.tensor([0, 1, 2, 1])
for losses in (classification(logits, labels), regression(logits, torch.randn(4, 3))):
    for loss in losses:
        (gradient,) = torch.autograd.grad(loss, logits, retain_graph=True)
        print(loss.item(), gradient.norm().item())
module = nn.CTCLoss(), nn.TripletMarginLoss(), nn.MultiLabelSoftMarginLoss()
print(module[1](logits, logits + 1, logits * 2).item(), module[2](logits, torch.ones(4, 3)).item())
