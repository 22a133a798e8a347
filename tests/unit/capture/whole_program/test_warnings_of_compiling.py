"""Warnings are no errors while a captured program is compiled, and stay errors for all else."""

import threading
import warnings
from collections.abc import Iterator

import pytest

from dynamo_core.capture.whole_program.warnings_of_compiling import compiling_warns_of_nothing


@pytest.fixture(autouse=True)
def errors() -> Iterator[None]:
    """As under `-W error`."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def raises() -> bool:
    try:
        warnings.warn("mine", DeprecationWarning, stacklevel=1)
    except DeprecationWarning:
        return True
    return False


def test_in_the_thread_that_compiles_nothing_is_raised_and_behind_it_all_is() -> None:
    before = list(warnings.filters)
    with compiling_warns_of_nothing():
        with compiling_warns_of_nothing():
            assert not raises()
        assert not raises()
    assert raises()
    assert list(warnings.filters) == before


def test_in_another_thread_all_is_raised_meanwhile() -> None:
    raised: list[bool] = []
    with compiling_warns_of_nothing():
        other = threading.Thread(target=lambda: raised.append(raises()))
        other.start()
        other.join()
    assert raised == [True]


def test_what_was_shown_once_is_not_shown_again() -> None:
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("default")
        for _ in range(2):
            assert not raises()
            with compiling_warns_of_nothing():
                pass
    assert len(shown) == 1


def test_a_filter_list_that_was_replaced_meanwhile_is_left_alone() -> None:
    with compiling_warns_of_nothing():
        warnings.resetwarnings()
        warnings.simplefilter("error")
    assert raises()
