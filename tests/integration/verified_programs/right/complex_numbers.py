"""A Fourier transform and back."""

import torch


@torch.compile(backend="aot_eager")
def filtered(x):
    spectrum = torch.fft.rfft(x)
    return torch.fft.irfft(spectrum * spectrum.abs(), n=x.shape[-1]), spectrum.conj()


print(filtered(torch.arange(8.0))[0].round(decimals=2))
