"""A mask is pasted into its box, whose size is taken out of a tensor.

kind: graph break
advice: TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS

Made after https://github.com/pytorch/torchdynamo/issues/1940
"""

import torch


@torch.compile(backend="eager")
def paste(mask, box, canvas):
    side = int((box[2:] - box[:2]).max() + 1)  # cause
    resized = torch.nn.functional.interpolate(
        mask[None, None], size=(side, side), mode="bilinear", align_corners=False
    )[0, 0]
    return canvas + (resized > 0.5).float().sum()


torch.manual_seed(0)
mask = torch.rand(7, 7)
for x0, y0, x1, y1 in ((2, 3, 9, 12), (1, 1, 14, 7), (4, 2, 20, 15), (0, 5, 6, 11)):
    print(paste(mask, torch.tensor([x0, y0, x1, y1]), torch.zeros(2)).tolist())
