"""What commands open: the recordings of a folder; of a large job, one stream for all ranks that are alike."""
