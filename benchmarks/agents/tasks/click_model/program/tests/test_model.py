import torch
from features import ROWS, crossed, row_of
from model import ClickModel
from pages import COLUMNS, make_adverts, make_pages


def test_neighbours_are_crossed():
    assert crossed(["a", "b", "c"]) == ["a", "b", "c", "a&b", "b&c"]


def test_a_row_is_stable_and_in_the_table():
    assert row_of("topic") == row_of("topic")
    assert all(0 <= row_of(name) < ROWS for name in crossed(COLUMNS))


def test_probabilities_of_adverts():
    torch.manual_seed(0)
    (page,) = make_pages(1, seed=0)
    chances = ClickModel(COLUMNS)(page, make_adverts(4, seed=0))
    assert chances.shape == (4,)
    assert ((chances > 0) & (chances < 1)).all()


def test_columns_count():
    torch.manual_seed(0)
    (page,) = make_pages(1, seed=0)
    adverts = make_adverts(4, seed=0)
    model = ClickModel(COLUMNS)
    assert not torch.equal(model(page, adverts), model(page * 0, adverts))
