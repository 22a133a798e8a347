"""torch.profiler around a window of steady steps."""
