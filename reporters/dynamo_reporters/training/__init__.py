"""What training asks of a compile: forward and backward graphs, what is saved between them, optimizers."""
