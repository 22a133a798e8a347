"""A server that warms up on the sizes it expects, and then is asked for others.

`dynamo run --freeze-after serve=40 sample_scripts/serving.py` compiles nothing after the warm-up: requests of
other sizes run eager, and `dynamo recompiles` lists them.
"""

import torch

WARM_UP = 40
EXPECTED_SIZES = (16, 32)
ODD_SIZES = (7, 16, 48, 32, 7, 100, 16, 7)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.GELU(), torch.nn.Linear(128, 8))

    def forward(self, x):
        return self.layers(x).softmax(-1)


torch.manual_seed(0)
model = Model().eval()


@torch.compile(dynamic=False)
def serve(x):
    return model(x).argmax(-1)


@torch.compile(dynamic=False)
def health(x):
    return x.isfinite().all()


@torch.no_grad()
def main():
    answers = 0
    for request in range(WARM_UP):
        answers += serve(torch.randn(EXPECTED_SIZES[request % 2], 64)).sum().item()
    for size in ODD_SIZES:
        answers += serve(torch.randn(size, 64)).sum().item()
    print("healthy:", health(torch.randn(4)).item())
    print("sum of answers:", answers)


if __name__ == "__main__":
    main()
