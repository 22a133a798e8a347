"""How the settings in a compile's metrics tell what `torch.compile(dynamic=…)` was.

Source: torch/_dynamo/eval_frame.py (set_enable_dynamic), 2.8 to 2.15.
"""

_IS_DYNAMIC = '"assume_static_by_default": false'
_IS_STATIC = '"automatic_dynamic_shapes": false'


def dynamic_of(config: object) -> bool | None:
    """What it was, by torch's settings as JSON text; None where it was not given, or they are not there."""
    if not isinstance(config, str):
        return None
    if _IS_DYNAMIC in config:
        return True
    return False if _IS_STATIC in config else None


def that_tell_dynamic(config: str) -> str:
    """Of the settings as JSON text, those that `dynamic_of` reads."""
    return "{" + ", ".join(each for each in (_IS_DYNAMIC, _IS_STATIC) if each in config) + "}"
