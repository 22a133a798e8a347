"""What a run may change at the user's wish: freeze, override, verify, arguments of torch.compile."""
