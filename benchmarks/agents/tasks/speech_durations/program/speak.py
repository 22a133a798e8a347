"""Speak made-up utterances, and print figures of their spectra."""

import argparse

import torch
from synthesiser import Synthesiser

PHONEMES = 30


def utterance(length: int, generator: torch.Generator) -> torch.Tensor:
    """Phonemes drawn one by one."""
    return torch.randint(PHONEMES, (length,), generator=generator)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--utterances", type=int, default=4)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    generator = torch.Generator().manual_seed(given.seed)
    synthesise = torch.compile(Synthesiser(PHONEMES))
    for number in range(given.utterances):
        with torch.no_grad():
            spectrum = synthesise(utterance(9, generator))
        loudest, energy = int(spectrum.mean(dim=0).argmax()), spectrum.square().mean()
        print(f"utterance {number}: {len(spectrum)} frames, band {loudest} loudest, energy {energy:.4f}")


if __name__ == "__main__":
    main()
