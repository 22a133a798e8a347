"""An iterator that counts goes on from call to call."""

import itertools

import torch


class Noisy:
    def __init__(self):
        self.numbers = itertools.count(1)
        self.history = []

    def __call__(self, x):
        number = next(self.numbers)
        self.history.append(number)
        return x * number


noisy = Noisy()
compiled = torch.compile(noisy)
for _ in range(3):
    print(compiled(torch.ones(2)).tolist(), noisy.history)
