"""transformers: a T5 encoder-decoder trains for three steps on lengths that vary."""

import torch
from transformers import T5Config, T5ForConditionalGeneration

torch.manual_seed(0)
model = T5ForConditionalGeneration(
    T5Config(
        vocab_size=100,
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        decoder_start_token_id=0,
        dropout_rate=0.0,
    )
)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step, length in enumerate((8, 12, 10)):
    loss = model(input_ids=torch.randint(1, 100, (2, length)), labels=torch.randint(1, 100, (2, 6))).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(step, f"{loss.item():.3f}")
