"""The masking of tokens for a masked language model, in the compiled step.

kind: graph break
advice: TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS

Made after `torch_mask_tokens` of Hugging Face transformers (DataCollatorForLanguageModeling).
"""

import torch
import torch.nn.functional as F
from torch import nn

MASK, VOCABULARY = 1, 40


def mask_tokens(inputs, draws):
    labels = inputs.clone()
    masked = (draws[0] < 0.3) & (inputs > 3)
    labels[~masked] = -100
    replaced = masked & (draws[1] < 0.8)
    inputs = inputs.masked_fill(replaced, MASK)
    random = masked & ~replaced & (draws[1] < 0.9)
    words = (draws[2] * VOCABULARY).long()
    inputs[random] = words[random]  # cause
    return inputs, labels


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, 16)
        self.head = nn.Linear(16, VOCABULARY)

    def forward(self, ids):
        return self.head(torch.relu(self.embed(ids)))


def main():
    torch.manual_seed(0)
    model = Encoder()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    @torch.compile(backend="eager")
    def loss_of(ids, draws):
        inputs, labels = mask_tokens(ids, draws)
        logits = model(inputs)
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten())

    for _ in range(4):
        loss = loss_of(torch.randint(4, VOCABULARY, (4, 12)), torch.rand(3, 4, 12))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(round(loss.item(), 3))


main()
