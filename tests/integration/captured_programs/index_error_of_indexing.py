"""Indexing, index_select, gather and select out of range raise the types that eager raises."""

import torch

table = torch.arange(12.0).reshape(4, 3)


def by_index(t, i):
    return t[i] * 2


def by_index_select(t, i):
    return torch.index_select(t, 0, i).sum(0)


def by_gather(t, i):
    return t.gather(0, i[None].expand(1, 3)[:, :3])


def by_number(t, i):
    return t[int(i[0])] + 1


for look_up in (by_index, by_index_select, by_gather, by_number):
    for indices in (torch.tensor([0, 3, 1]), torch.tensor([5, 0, 1])):
        try:
            print(look_up.__name__, look_up(table, indices).tolist())
        except (IndexError, RuntimeError) as error:
            print(look_up.__name__, type(error).__name__, error)
