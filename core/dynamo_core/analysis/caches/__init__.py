"""Why compiles found nothing in torch's caches: what their keys are made of, and what differs in words."""
