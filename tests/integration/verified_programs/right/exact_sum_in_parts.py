"""What a sum loses to rounding is kept beside it, and added in the end."""

import torch


class ExactSum(torch.nn.Module):
    def forward(self, x):
        total = torch.zeros_like(x[0])
        lost = torch.zeros_like(total)
        for part in x:
            sum_of_both = total + part
            part_of_sum = sum_of_both - total
            lost = lost + (total - (sum_of_both - part_of_sum)) + (part - part_of_sum)
            total = sum_of_both
        return total + lost


exact = torch.compile(ExactSum())
x = torch.tensor([[1e8, 1.0], [3.0, 1e-8], [-1e8, 2.5], [0.25, -1.0]])
print([round(each, 3) for each in exact(x).tolist()])
