"""What TorchDynamo made of a program: recording it, and reading the recording."""

__version__ = "0.1.0"
