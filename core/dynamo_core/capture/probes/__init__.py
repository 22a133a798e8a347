"""The probes: each module watches one part of torch."""
