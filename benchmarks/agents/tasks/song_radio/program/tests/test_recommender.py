import torch
from recommender import Recommender
from songs import LISTENERS, Play, make_plays, make_songs


def test_a_first_song_leads_to_songs_like_it():
    songs = make_songs(30, seed=0)
    best = Recommender(songs).recommend(Play("ada", songs[4]))[0]
    assert songs[best] @ songs[4] > 0.5


def test_listeners_have_their_own_taste():
    songs = make_songs(30, seed=0)
    recommender = Recommender(songs)
    recommender.recommend(Play("ada", songs[0]))
    recommender.recommend(Play("bo", songs[9]))
    assert torch.allclose(recommender.tastes["ada"], songs[0], atol=1e-6)
    assert torch.allclose(recommender.tastes["bo"], songs[9], atol=1e-6)


def test_what_was_heard_fades():
    songs = make_songs(30, seed=1)
    recommender = Recommender(songs)
    recommender.recommend(Play("chen", songs[2]))
    for _ in range(20):
        recommender.recommend(Play("chen", songs[3]))
    assert recommender.tastes["chen"] @ songs[3] > 0.99


def test_all_listeners_play():
    assert {play.listener for play in make_plays(make_songs(5, 0), 60, 0)} == set(LISTENERS)
