"""Measuring on other machines: `--on ray`. What is measured there is the suite's and autotune's affair."""
