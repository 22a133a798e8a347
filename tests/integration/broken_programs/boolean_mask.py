"""Indexing by a mask.

kind: graph break
advice: TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS
"""

import torch


class Loss(torch.nn.Module):
    def forward(self, predicted, target):
        error = (predicted - target) ** 2
        return error[target != -1].mean()  # cause


loss = torch.compile(Loss(), backend="aot_eager")
predicted = torch.tensor([0.5, 1.5, 2.5], requires_grad=True)
result = loss(predicted, torch.tensor([1.0, -1.0, 2.0]))
result.backward()
print(result.item(), predicted.grad.tolist())
