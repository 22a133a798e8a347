"""What lies in this machine's compile caches. Nothing of it is loaded or run; nothing is deleted unasked."""
