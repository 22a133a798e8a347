"""Forward and backward graphs of a training step."""
