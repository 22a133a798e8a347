import torch
from grid import Plate, make_plate
from operators import gradient_norm, laplacian
from solver import HeatSolver


def test_a_flat_field_has_no_differences():
    flat = torch.full((5, 5), 2.0)
    assert torch.equal(laplacian(flat), torch.zeros(5, 5))
    assert torch.equal(gradient_norm(flat), torch.zeros(4, 4))


def test_heat_stays_where_nothing_cools():
    plate = make_plate(20, seed=1)
    solver = HeatSolver(Plate(plate.temperature, torch.full((20, 20), 0.1)), cooling=0.0)
    solver.advance(10)
    assert abs(solver.figures()[0] - plate.temperature.sum().item()) < 0.5


def test_the_hottest_point_cools():
    plate = make_plate(20, seed=1)
    solver = HeatSolver(plate)
    solver.advance(5)
    assert solver.figures()[1] < plate.temperature.max().item()


def test_time_is_taken():
    solver = HeatSolver(make_plate(20, seed=1))
    assert solver.total_seconds == 0
    solver.advance(2)
    assert solver.total_seconds > 0
