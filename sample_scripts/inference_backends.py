"""Inference with a program that knows nothing of compilers, given to one backend and to chains of them.

dynamo run --backend ofi inference_backends.py      ofi is TorchScript's optimize_for_inference
dynamo run --backend tensorrt,cudagraphs,eager inference_backends.py
                                                    each graph goes to the first that takes it
dynamo run --backend ofi,inductor train_loop.py     ofi declines what trains, Inductor takes it
dynamo explain                                      who took which graph, and why the others did not
"""

import torch


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(3, 8, 3, padding=1),
            torch.nn.BatchNorm2d(8),
            torch.nn.ReLU(),
            torch.nn.AdaptiveAvgPool2d(4),
        )
        self.head = torch.nn.Linear(8 * 16, 5)

    def forward(self, images):
        return self.head(self.layers(images).flatten(1))


def main():
    torch.manual_seed(0)
    model = Encoder().eval()
    with torch.inference_mode():
        for batch in range(3):
            scores = model(torch.randn(2, 3, 16, 16))
            print(f"batch {batch}: {scores.sum().item():.3f}")


if __name__ == "__main__":
    main()
