import torch
from data import LENGTH, VOCABULARY, batches, make_reviews
from metrics import RunningMetrics
from model import ReviewClassifier
from train import Trainer


def test_reviews_have_words_of_the_vocabulary():
    reviews = make_reviews(10, seed=1)
    assert reviews.tokens.shape == (10, LENGTH)
    assert reviews.tokens.max() < VOCABULARY
    assert [len(batch.labels) for batch in batches(reviews, 4)] == [4, 4]


def test_metrics_count_what_is_right():
    metrics = RunningMetrics()
    logits = torch.tensor([[2.0, 1.0], [0.0, 3.0], [1.0, 0.0]])
    metrics.update(torch.tensor(0.5), logits, torch.tensor([0, 1, 1]))
    assert metrics.mean_loss == 0.5
    assert metrics.accuracy == 2 / 3


def test_an_epoch_learns_and_counts_each_review():
    torch.manual_seed(0)
    trainer = Trainer(ReviewClassifier(), rate=0.5)
    reviews = make_reviews(64, seed=0)
    trainer.epoch(reviews, size=16)
    first = trainer.metrics.mean_loss
    for _ in range(5):
        trainer.epoch(reviews, size=16)
    assert trainer.metrics.seen == 64
    assert trainer.metrics.mean_loss < first
