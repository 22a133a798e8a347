import numpy as np
import torch
from torch import nn


class Evaluator:
    def __init__(self, classes):
        self.classes = classes
        self.matrix = np.zeros((classes, classes))

    def add_batch(self, truth, predicted):
        valid = (truth >= 0) & (truth < self.classes)
        label = self.classes * truth[valid].astype(int) + predicted[valid]
        count = np.bincount(label, minlength=self.classes**2)
        self.matrix += count.reshape(self.classes, self.classes)

    def mean_iou(self):
        overlap = np.diag(self.matrix)
        union = self.matrix.sum(1) + self.matrix.sum(0) - overlap
        return np.nanmean(overlap / np.maximum(union, 1))


class Validator:
    def __init__(self, net, classes=4):
        self.net = net
        self.evaluator = Evaluator(classes)

    def validate(self, images, masks):
        with torch.no_grad():
            scores = self.net(images)
        loss = nn.functional.cross_entropy(scores, masks)
        return loss, scores.argmax(1)


def main():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 4, 1)).eval()
    validator = Validator(net)
    validate = torch.compile(validator.validate, backend="eager")
    for _ in range(4):
        images, masks = torch.rand(2, 3, 12, 12), torch.randint(0, 4, (2, 12, 12))
        loss, predicted = validate(images, masks)
        validator.evaluator.add_batch(masks.numpy(), predicted.numpy())
        print(round(loss.item(), 3))
    print(round(float(validator.evaluator.mean_iou()), 3))


main()
