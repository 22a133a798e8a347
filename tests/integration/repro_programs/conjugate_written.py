"""AOTAutograd cannot write the imaginary part of a conjugate.

An idea of our own.
origin: graph
kind: exception
"""

import torch


@torch.compile(backend="aot_eager")
def turned(signal):
    scaled = signal * 2
    mirrored = scaled.conj()
    mirrored.mul_(2j)
    return scaled.abs() + 1, mirrored.imag


turned(torch.ones(3, dtype=torch.complex64))
