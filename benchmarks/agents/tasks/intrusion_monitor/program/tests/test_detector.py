import threading

import torch
from baseline import Baseline
from detector import Detector
from traffic import FEATURES, make_connections


def connections(count, attacks):
    return make_connections(count, attacks, torch.Generator().manual_seed(0))


def test_attacks_raise_alarms():
    alarms = Detector(Baseline()).alarms(connections(20, attacks=3))
    assert alarms[:3].all()
    assert alarms[3:].sum() <= 1


def test_the_baseline_learns():
    detector = Detector(Baseline(rate=0.5))
    for _ in range(10):
        detector.alarms(torch.full((4, FEATURES), 3.0))
    assert torch.allclose(detector.baseline.mean, torch.full((FEATURES,), 3.0), atol=0.01)


def test_no_update_of_a_thread_is_lost():
    shared, alone = Baseline(rate=0.01), Baseline(rate=0.01)
    batch = connections(8, attacks=0)
    threads = [threading.Thread(target=shared.update, args=(batch,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for _ in range(8):
        alone.update(batch)
    assert torch.allclose(shared.mean, alone.mean)
