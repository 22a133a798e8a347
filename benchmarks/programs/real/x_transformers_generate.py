"""x-transformers: train a small decoder for four steps, then generate 40 tokens."""

import torch
from x_transformers import AutoregressiveWrapper, Decoder, TransformerWrapper

torch.manual_seed(0)
model = AutoregressiveWrapper(
    TransformerWrapper(num_tokens=64, max_seq_len=65, attn_layers=Decoder(dim=64, depth=2, heads=4))
)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
tokens = torch.randint(0, 64, (4, 65))
for step in range(4):
    loss = model(tokens)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.3f}")
model.eval()
print(model.generate(tokens[:1, :4], 40, temperature=0.0).tolist())
