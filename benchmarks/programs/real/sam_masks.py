"""segment-anything: a tiny Sam's image encoder and mask decoder."""

import torch
from segment_anything.modeling import ImageEncoderViT, MaskDecoder, PromptEncoder, TwoWayTransformer

torch.manual_seed(0)
encoder = ImageEncoderViT(
    img_size=64,
    patch_size=16,
    embed_dim=48,
    depth=2,
    num_heads=4,
    out_chans=32,
    use_rel_pos=True,
    window_size=2,
    global_attn_indexes=(1,),
).eval()
prompts = PromptEncoder(
    embed_dim=32, image_embedding_size=(4, 4), input_image_size=(64, 64), mask_in_chans=16
).eval()
decoder = MaskDecoder(
    transformer_dim=32, transformer=TwoWayTransformer(depth=2, embedding_dim=32, mlp_dim=64, num_heads=4)
).eval()
with torch.no_grad():
    for points in (1, 2, 3):
        embedding = encoder(torch.randn(1, 3, 64, 64))
        sparse, dense = prompts(
            points=(torch.rand(1, points, 2) * 64, torch.ones(1, points)), boxes=None, masks=None
        )
        masks, scores = decoder(
            image_embeddings=embedding,
            image_pe=prompts.get_dense_pe(),
            sparse_prompt_embeddings=sparse,
            dense_prompt_embeddings=dense,
            multimask_output=True,
        )
        print(points, tuple(masks.shape), f"{masks.mean().item():.3f}")
