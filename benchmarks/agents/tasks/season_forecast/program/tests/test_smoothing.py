import torch
from calendar_days import Day, kind_of
from smoothing import SeasonalSmoothing


def test_a_week_has_its_days():
    assert [kind_of(number) for number in (0, 5, 6, 9)] == [
        Day.WORKDAY,
        Day.SATURDAY,
        Day.SUNDAY,
        Day.HOLIDAY,
    ]


def test_usual_sales_leave_the_level():
    smoothing = SeasonalSmoothing(2)
    for day in Day:
        smoothing.observe(torch.full((2,), 10.0 * day.value), day)
    assert torch.allclose(smoothing.level, torch.full((2,), 10.0))
    assert torch.allclose(smoothing.forecast(Day.SUNDAY), torch.full((2,), 3.0))


def test_holidays_leave_the_trend():
    smoothing = SeasonalSmoothing(2)
    smoothing.observe(torch.full((2,), 30.0), Day.HOLIDAY)
    assert smoothing.trend.tolist() == [0.0, 0.0]
    assert (smoothing.level > 10).all()
    smoothing.observe(torch.full((2,), 30.0), Day.WORKDAY)
    assert (smoothing.trend > 0).all()
