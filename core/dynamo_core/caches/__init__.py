"""torch's compile caches: why a look-up missed, in words, and what lies in the caches of this machine."""
