"""A float that changes, in a program that never calls torch.compile.

kind: recompile
advice: --dynamic
options: --backend eager
"""

import torch


class Smoothed(torch.nn.Module):
    def forward(self, x, average, rate):
        return average + rate * (x - average)  # cause


smoothed, average = Smoothed(), torch.zeros(4)
for step in range(5):
    average = smoothed(torch.ones(4), average, 1 / (step + 2))
    print([round(value, 4) for value in average.tolist()])
