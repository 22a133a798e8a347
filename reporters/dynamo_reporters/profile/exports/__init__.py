"""The time report for other programs' viewers: one file a format."""
