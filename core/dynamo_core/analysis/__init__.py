"""From the model to figures and findings: pure functions, without torch, input or output, or layout."""
