"""What both sides of the process boundary go by: names of records, settings, choices; no torch."""
