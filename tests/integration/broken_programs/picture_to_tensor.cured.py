import numpy as np
import torch


class Picture:
    """Stands for an image of PIL's: numpy asks it for its pixels."""

    def __init__(self, pixels):
        self._pixels = pixels

    @property
    def size(self):
        return self._pixels.shape[1], self._pixels.shape[0]

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self._pixels, dtype=dtype)


MEAN = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1)
STD = torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1)


@torch.compile(backend="eager")
def transform(pixels):
    image = torch.from_numpy(pixels).permute(2, 0, 1) / 255.0
    image = (image - MEAN) / STD
    return torch.nn.functional.avg_pool2d(image[None], 2)


def main():
    drawn = np.random.default_rng(0)
    for _ in range(4):
        picture = Picture(drawn.integers(0, 256, (16, 16, 3), dtype=np.uint8))
        print(picture.size, round(transform(np.array(picture, dtype=np.float32)).mean().item(), 4))


main()
