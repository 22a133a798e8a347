"""The page: one HTML file of a recording, which asks no network and runs nothing that was recorded."""

from .document import CONTENTS, fragment, page, page_of_blocks

__all__ = ["CONTENTS", "fragment", "page", "page_of_blocks"]
