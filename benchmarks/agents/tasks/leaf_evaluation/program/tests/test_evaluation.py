import torch
from classifier import LeafClassifier
from evaluation import Evaluation
from leaves import SIZE, SPECIES, batches, make_leaves


def test_batches_hold_every_leaf():
    leaves = make_leaves(9, seed=0)
    assert leaves.images.shape == (9, 1, SIZE, SIZE)
    assert [len(batch) for batch in batches(leaves, 4)] == [4, 4, 1]


def test_the_batch_size_does_not_change_the_score():
    torch.manual_seed(0)
    model, leaves = LeafClassifier(), make_leaves(13, seed=1)
    scores = [Evaluation(model, batch_size=size).run(leaves) for size in (4, 12, 13)]
    assert all(abs(score.loss - scores[0].loss) < 1e-5 for score in scores)
    assert all(score.accuracy == scores[0].accuracy for score in scores)


def test_a_model_that_names_one_species_is_right_where_it_occurs():
    leaves = make_leaves(10, seed=2)

    class Always(torch.nn.Module):
        def forward(self, images):
            return torch.log_softmax(9.0 * torch.eye(SPECIES)[0].expand(len(images), -1), dim=1)

    expected = float((leaves.species == 0).float().mean())
    assert abs(Evaluation(Always(), batch_size=4).run(leaves).accuracy - expected) < 1e-6
