"""A masked loss: two selections by one mask, whose sizes torch does not know to be equal.

kind: graph break
advice: torch._check

Made after https://github.com/pytorch/pytorch/issues/165421.
"""

import torch
import torch.nn.functional as F

torch._dynamo.config.capture_dynamic_output_shape_ops = True


class MaskedLoss(torch.nn.Module):
    def forward(self, predicted, target, mask):
        predicted = predicted.masked_select(mask)
        target = target.masked_select(mask)
        return F.mse_loss(predicted, target)  # cause


class Trained(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.model = torch.nn.Linear(4, 4)
        self.loss = MaskedLoss()

    def forward(self, x, target, mask):
        return self.loss(self.model(x), target, mask)


torch.manual_seed(0)
trained = torch.compile(Trained(), backend="eager")
for kept in (3, 5):
    loss = trained(torch.ones(6, 4), torch.zeros(6, 4), (torch.arange(6) < kept)[:, None].expand(6, 4))
    loss.backward()
    print(f"{loss.item():.4f}")
