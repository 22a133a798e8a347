"""Trains under autocast with a gradient scaler, pinned batches and workers; reads the loss at each step."""

import os

import torch

device = os.environ["DEVICE"]
pins = device == "cuda"


def main():
    torch.manual_seed(0)
    layers = [torch.nn.Conv2d(3, 16, 3), torch.nn.BatchNorm2d(16), torch.nn.ReLU(), torch.nn.Flatten()]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(16 * 14 * 14, 10)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler(device, enabled=pins)
    images, labels = torch.randn(256, 3, 16, 16), torch.randint(0, 10, (256,))
    data = torch.utils.data.TensorDataset(images, labels)
    loader = torch.utils.data.DataLoader(data, batch_size=32, num_workers=2, pin_memory=pins)
    compiled = torch.compile(model)
    read = []
    for _ in range(2):
        for image, label in loader:
            image, label = image.to(device, non_blocking=True), label.to(device, non_blocking=True)
            with torch.autocast(device, dtype=torch.bfloat16):
                loss = torch.nn.functional.cross_entropy(compiled(image), label)
            optimizer.zero_grad(set_to_none=True)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            read.append(loss.item())
    print(f"{len(read)} steps, loss falls: {read[-1] < read[0]}")


if __name__ == "__main__":
    main()
