"""transformers: a small random Llama generates 30 tokens."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM

torch.manual_seed(0)
model = LlamaForCausalLM(
    LlamaConfig(
        vocab_size=100,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=64,
    )
).eval()
print(
    model.generate(
        torch.randint(3, 100, (1, 5)), max_new_tokens=30, do_sample=False, eos_token_id=-1, pad_token_id=0
    ).tolist()
)
