"""A percentile of an array has one dimension instead of none.

An idea of our own.
kind: structure
stage: tracing
"""

import numpy as np
import torch


def spread(values):
    return float(values.max() - values.min())


class Summary:
    """Numbers that describe a batch."""

    def __init__(self, share):
        self.share = share

    def __call__(self, values):
        centered = values - 1.0
        limit = np.percentile(centered, self.share)  # cause
        kept = np.where(centered > limit, centered, 0.0)
        return {"kept": kept, "limit": limit + 1.0}


summary = Summary(25)


@torch.compile(backend="eager")
def described(values):
    doubled = values * 2
    found = summary(doubled)
    return found["kept"].sum(), found["limit"]


total, limit = described(np.arange(5.0))
print(total, np.ndim(limit), limit)
