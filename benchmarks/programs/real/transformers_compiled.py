"""transformers: ViT and CLIP text encoders, torch.compile called by the program."""

import torch
from transformers import CLIPTextConfig, CLIPTextModel, ViTConfig, ViTModel

torch.manual_seed(0)
vit = torch.compile(
    ViTModel(
        ViTConfig(
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=64,
            image_size=32,
            patch_size=8,
        )
    ).eval()
)
text = torch.compile(
    CLIPTextModel(
        CLIPTextConfig(
            vocab_size=100,
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            max_position_embeddings=16,
            bos_token_id=0,
            eos_token_id=1,
        )
    ).eval()
)
with torch.no_grad():
    for batch in (1, 2, 3):
        print(f"{vit(torch.randn(batch, 3, 32, 32)).last_hidden_state.mean().item():.4f}")
        print(f"{text(torch.randint(2, 100, (batch, 9))).last_hidden_state.mean().item():.4f}")
