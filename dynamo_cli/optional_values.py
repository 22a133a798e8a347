"""Options of which the value may be left out."""

from typing import Any

import click


class OptionWithOptionalValue(click.Option):
    """`--option` alone means `--option=BARE`; another value stands behind `=`, never in the next argument.

    click's own kind of it takes the argument that follows, which here may be the program.
    """

    def __init__(self, *args: Any, bare: str, **named: Any) -> None:
        super().__init__(*args, **named)
        self.bare = bare
