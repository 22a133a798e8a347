"""What tests share: stored and made recordings, commands run in this process, the examples of the docs."""
