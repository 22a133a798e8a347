"""try with finally, else, nested handlers, suppress and re-raise around operators that fail by data."""

import contextlib

import torch

log = []


def look_up(table, index):
    try:
        row = table[index]
        out = torch.linalg.inv(row)
    except torch.linalg.LinAlgError as error:
        log.append(type(error).__name__)
        out = torch.linalg.pinv(row)
    except IndexError:
        log.append("index")
        raise
    else:
        log.append("regular")
    finally:
        log.append("done")
    return out


def first_valid(tables, index):
    for table in tables:
        with contextlib.suppress(IndexError):
            return look_up(table, index)
    return None


table = torch.stack([torch.eye(2) * 4, torch.ones(2, 2)])
print(look_up(table, 0).tolist(), log)
print([[round(v, 4) for v in row] for row in look_up(table, 1).tolist()], log)
print(first_valid([table[:0], table], 0).tolist(), log)
print(first_valid([table[:1]], torch.tensor(5)), log)
try:
    look_up(table, 2)
except IndexError as error:
    print(type(error).__name__, error)
