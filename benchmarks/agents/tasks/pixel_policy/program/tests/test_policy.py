import torch
from game import SIZE, Game
from policy import Policy


def test_the_ball_stays_on_the_field():
    game = Game(seed=3)
    for _ in range(40):
        game.step(1.0)
        assert ((game.place >= 0) & (game.place <= 1)).all()
    assert game.frame().shape == (SIZE, SIZE)


def test_what_was_seen_before_counts():
    torch.manual_seed(0)
    policy = Policy()
    frame = torch.rand(SIZE, SIZE)
    first = policy(frame)
    policy(torch.rand(SIZE, SIZE))
    assert not torch.allclose(first, policy(frame))


def test_a_new_episode_forgets():
    torch.manual_seed(0)
    policy = Policy(memory=3)
    frames = torch.rand(5, SIZE, SIZE)
    first = [policy(frame) for frame in frames]
    policy.begin()
    again = [policy(frame) for frame in frames]
    assert all(torch.allclose(left, right) for left, right in zip(first, again, strict=True))


def test_old_frames_are_left_out():
    torch.manual_seed(0)
    policy = Policy(memory=2)
    frames = torch.rand(4, SIZE, SIZE)
    for frame in frames:
        last = policy(frame)
    policy.begin()
    policy(frames[2])
    assert torch.allclose(last, policy(frames[3]))
