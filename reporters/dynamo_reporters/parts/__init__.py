"""What more than one report shows."""
