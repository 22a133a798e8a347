import multiprocessing

import torch


class Storage:
    def __init__(self):
        self.filled = multiprocessing.Value("i", 0)

    def put(self, rows):
        return rows.mean(0)

    def count(self, rows):
        with self.filled.get_lock():
            self.filled.value = self.filled.value + rows


storage = Storage()


@torch.compile(backend="eager")
def extend(rows):
    return storage.put(rows.tanh() * 2)


for step in range(4):
    print([round(each, 4) for each in extend(torch.full((3, 2), 0.1 * step)).tolist()])
    storage.count(3)
print(storage.filled.value)
