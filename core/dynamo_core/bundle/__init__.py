"""What is attached to an issue: a recording in one file, without the user's source if that is wanted."""
