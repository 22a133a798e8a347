"""How much a report says, in the three steps of TORCH_LOGS: `-name`, `name`, `+name`."""

import enum


class Detail(enum.IntEnum):
    """LESS is one line an item; MORE is all there is."""

    LESS = -1
    NORMAL = 0
    MORE = 1
