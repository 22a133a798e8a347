"""A tiny Hugging Face Llama, built from a config: one forward pass, then greedy generation."""

import argparse
import os
import sys

import torch

os.environ["HF_HUB_OFFLINE"] = "1"  # nothing is downloaded: the weights are random

try:
    from transformers import LlamaConfig, LlamaForCausalLM
except ImportError as error:
    sys.exit(f"hf_llama.py needs Hugging Face transformers (pip install transformers): {error}")


def build_model():
    config = LlamaConfig(
        vocab_size=256,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        bos_token_id=1,
        eos_token_id=None,
        pad_token_id=0,
    )
    return LlamaForCausalLM(config).eval()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compile", action="store_true", help="compile the model's forward")
    arguments = parser.parse_args()

    torch.manual_seed(0)
    model = build_model()
    if arguments.compile:
        model.forward = torch.compile(model.forward)

    prompt = torch.randint(2, 256, (1, 8))
    with torch.no_grad():
        logits = model(prompt).logits
    print(f"logits sum {logits.sum().item():.3f}")
    tokens = model.generate(prompt, attention_mask=torch.ones_like(prompt), do_sample=False, max_new_tokens=8)
    print(f"new tokens {tokens[0, prompt.shape[1] :].tolist()}")


if __name__ == "__main__":
    main()
