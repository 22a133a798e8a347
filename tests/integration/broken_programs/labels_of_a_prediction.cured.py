import torch
from torch import nn

NAMES = ["cat", "dog", "horse", "ship", "truck"]


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1))
        self.head = nn.Linear(8, len(NAMES))

    def forward(self, images):
        x = self.features(images).flatten(1)
        return self.head(x)


class Predictor:
    def __init__(self, model, names):
        self.model = model
        self.names = names

    @torch.no_grad()
    def predict(self, images):
        logits = self.model(images)
        probabilities = logits.softmax(dim=-1)
        best, index = probabilities.max(dim=-1)
        return index, best


def main():
    torch.manual_seed(0)
    predictor = Predictor(Classifier().eval(), NAMES)
    predict = torch.compile(predictor.predict, backend="eager")
    for seed in range(4):
        torch.manual_seed(seed)
        index, best = predict(torch.rand(6, 3, 16, 16))
        labels = [NAMES[i] for i in index.tolist()]
        print(labels, round(best.mean().item(), 4))


main()
