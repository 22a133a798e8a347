"""Complex tensors: FFT, real views, conjugation and gradients through them."""

import torch

torch.manual_seed(0)


def spectrum(x):
    f = torch.fft.rfft(x)
    return f.abs().pow(2), f.angle(), f


def rotate(x, angle):
    z = torch.view_as_complex(x.reshape(-1, 2))
    turned = z * torch.polar(torch.ones_like(angle), angle)
    return torch.view_as_real(turned).flatten(), turned.conj()


x = torch.randn(8, requires_grad=True)
power, angle, f = spectrum(x)
(power.sum() + f.real.sum() + f.imag.pow(2).sum()).backward()
print(power.tolist(), f.dtype, f[1].item().real, x.grad.tolist())
turned, conjugate = rotate(torch.arange(6.0), torch.tensor([0.1, 0.2, 0.3]))
print(turned.tolist(), conjugate.is_conj(), conjugate.imag.tolist(), conjugate.dtype)
z = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
(lambda v: (v * v.conj()).real.sum())(z).backward()
print(z.grad.real.tolist(), z.grad.imag.tolist())
