"""One of the sample scripts' models at work, some steps for each line on stdin. Compiled by `dynamo run`."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from serving import serve_wall_time

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "sample_scripts"))


def transformer() -> Callable[[], None]:
    """A training step of the sample transformer."""
    from transformer import LanguageModel, counting_batch

    model = LanguageModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    sequence = counting_batch()

    def step() -> None:
        logits = model(sequence[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), sequence[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def bert() -> Callable[[], None]:
    """A training step of a small Hugging Face BERT."""
    from hf_bert_train import build_model

    model = build_model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    tokens = torch.randint(1, 128, (8, 16))
    labels = (tokens[:, 0] < 64).long()

    def step() -> None:
        loss = model(input_ids=tokens, attention_mask=torch.ones_like(tokens), labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def mixed() -> Callable[[], None]:
    """A call of the pipeline whose two graphs favour different backends."""
    from mixed_graphs import pipeline

    image, positions = torch.randn(1, 16, 192, 192), torch.rand(1, 192, 192, 2) * 2 - 1

    def step() -> None:
        with torch.no_grad():
            pipeline(image, positions)

    return step


PROGRAMS = {"transformer": transformer, "bert": bert, "mixed": mixed}
WARM_UP, STEPS = 20, 5


def main() -> None:
    """Warm up, then serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", choices=PROGRAMS)
    torch.manual_seed(0)
    step = PROGRAMS[parser.parse_args().program]()
    for _ in range(WARM_UP):
        step()
    serve_wall_time(step, STEPS)


if __name__ == "__main__":
    main()
