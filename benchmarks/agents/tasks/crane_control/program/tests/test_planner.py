import torch
from crane import Load, make_loads, positions
from planner import HORIZON, Planner, cost_of


def test_a_push_moves_the_trolley_on():
    pushes = torch.tensor([[1.0, 0.0, 0.0]])
    assert positions(pushes).tolist() == [[0.5, 1.0, 1.5]]


def test_plans_that_do_nothing_cost_the_distance():
    near, far = (cost_of(Load(target, rope=2.5))(torch.zeros(1, HORIZON)) for target in (1.0, 2.0))
    assert torch.allclose(far, 4 * near)


def test_long_ropes_swing_more():
    pushes = torch.eye(1, HORIZON)
    short, long = (cost_of(Load(1.0, rope))(pushes) for rope in (2.0, 3.0))
    assert long > short


def test_planning_is_better_than_nothing():
    load = make_loads(1, seed=0)[0]
    _, cost = Planner(seed=0).plan(load)
    assert cost < float(cost_of(load)(torch.zeros(1, HORIZON)))
