import torch
from dialogues import LONGEST, batches
from embed import mean_similarity
from encoder import Encoder
from vocabulary import PADDING, Vocabulary


def test_words_keep_their_numbers():
    vocabulary = Vocabulary(2)
    assert vocabulary.numbers(["a", "b", "a", "c"]) == [1, 2, 1, 2]


def test_batches_are_padded():
    (batch,) = batches(1, 4, seed=0, vocabulary=Vocabulary(60))
    assert batch.words.shape == (4, LONGEST)
    for row, length in zip(batch.words, batch.lengths, strict=True):
        assert (row[length:] == PADDING).all() and (row[:length] != PADDING).all()


def test_padding_changes_nothing():
    torch.manual_seed(0)
    encoder = Encoder(20).eval()
    words = torch.tensor([[3, 4, 5, 0, 0, 0]])
    short = encoder(words[:, :3], torch.tensor([3]))
    assert torch.allclose(encoder(words, torch.tensor([3])), short, atol=1e-6)


def test_vectors_have_length_one():
    torch.manual_seed(0)
    vectors = Encoder(20)(torch.randint(1, 20, (5, LONGEST)), torch.tensor([2, 4, 6, 8, 10]))
    assert torch.allclose(vectors.norm(dim=1), torch.ones(5), atol=1e-5)
    assert -1 <= mean_similarity(vectors) <= 1
