"""Kinds of days on which a shop sells."""

from enum import Enum


class Day(Enum):
    """What kind of day it is, and how many sales it has beside a usual one."""

    WORKDAY = 1.0
    SATURDAY = 1.6
    SUNDAY = 0.3
    HOLIDAY = 0.5


def kind_of(number: int) -> Day:
    """The kind of the so-manyth day; each tenth day is a holiday, and the first one a Monday."""
    if number % 10 == 9:
        return Day.HOLIDAY
    return {5: Day.SATURDAY, 6: Day.SUNDAY}.get(number % 7, Day.WORKDAY)
