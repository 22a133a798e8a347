"""Models of Hugging Face transformers, small and from their configs: bert (trained), gpt2 or llama."""

import os
import sys

import torch
from _loops import infer, train
from torch.nn.functional import cross_entropy

os.environ["HF_HUB_OFFLINE"] = "1"  # nothing is downloaded: the weights are random

import transformers

WORDS, WIDTH, LAYERS, HEADS, TOKENS = 500, 64, 2, 4, 32


class Scores(torch.nn.Module):
    """What the programs of this folder call: words in, scores out."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        return self.model(input_ids=words).logits


def bert() -> torch.nn.Module:
    config = transformers.BertConfig(
        vocab_size=WORDS,
        hidden_size=WIDTH,
        intermediate_size=2 * WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    return transformers.BertForMaskedLM(config)


def gpt2() -> torch.nn.Module:
    config = transformers.GPT2Config(
        vocab_size=WORDS, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS, use_cache=False
    )
    return transformers.GPT2LMHeadModel(config)


def llama() -> torch.nn.Module:
    config = transformers.LlamaConfig(
        vocab_size=WORDS,
        hidden_size=WIDTH,
        intermediate_size=2 * WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        use_cache=False,
    )
    return transformers.LlamaForCausalLM(config)


torch.manual_seed(0)
name = sys.argv[1]
model, words = Scores({"bert": bert, "gpt2": gpt2, "llama": llama}[name]()), torch.randint(WORDS, (8, TOKENS))
if name == "bert":
    train(model, lambda scores: cross_entropy(scores.flatten(0, 1), words.flatten()), words)
else:
    infer(model, words)
