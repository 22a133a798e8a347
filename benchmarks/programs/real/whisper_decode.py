"""openai-whisper: a tiny random model decodes with its own key-value cache."""

import torch
import whisper
from whisper.model import ModelDimensions, Whisper

torch.manual_seed(0)
model = Whisper(
    ModelDimensions(
        n_mels=80,
        n_audio_ctx=1500,
        n_audio_state=64,
        n_audio_head=2,
        n_audio_layer=2,
        n_vocab=51865,
        n_text_ctx=448,
        n_text_state=64,
        n_text_head=2,
        n_text_layer=2,
    )
).eval()
torch.nn.init.normal_(model.decoder.positional_embedding)  # which whisper leaves uninitialised
mel = torch.randn(1, 80, 3000)
options = whisper.DecodingOptions(language="en", without_timestamps=True, fp16=False, sample_len=12)
result = whisper.decode(model, mel, options)
print(result[0].tokens)
