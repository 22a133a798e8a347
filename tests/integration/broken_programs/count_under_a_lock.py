"""A buffer counts its rows under a lock that processes share.

kind: fell back to eager
advice: with all of its block

Made after https://github.com/pytorch/rl/issues/2501
"""

import multiprocessing

import torch


class Storage:
    def __init__(self):
        self.filled = multiprocessing.Value("i", 0)

    def put(self, rows):
        with self.filled.get_lock():  # cause
            self.filled.value = self.filled.value + rows.shape[0]
        return rows.mean(0)


storage = Storage()


@torch.compile(backend="eager")
def extend(rows):
    return storage.put(rows.tanh() * 2)


for step in range(4):
    print([round(each, 4) for each in extend(torch.full((3, 2), 0.1 * step)).tolist()])
print(storage.filled.value)
