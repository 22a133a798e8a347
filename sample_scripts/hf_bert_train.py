"""A tiny Hugging Face BERT classifier, built from a config and trained for a few steps."""

import argparse
import os
import sys

import torch

os.environ["HF_HUB_OFFLINE"] = "1"  # nothing is downloaded: the weights are random

try:
    from transformers import BertConfig, BertForSequenceClassification
except ImportError as error:
    sys.exit(f"hf_bert_train.py needs Hugging Face transformers (pip install transformers): {error}")


def build_model():
    config = BertConfig(
        vocab_size=128,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=32,
        num_labels=2,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    return BertForSequenceClassification(config).train()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compile", action="store_true", help="compile the model")
    arguments = parser.parse_args()

    torch.manual_seed(0)
    model = build_model()
    if arguments.compile:
        model.compile()

    tokens = torch.randint(1, 128, (8, 16))
    labels = (tokens[:, 0] < 64).long()  # the first token decides
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(4):
        loss = model(input_ids=tokens, attention_mask=torch.ones_like(tokens), labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {step + 1}  loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
