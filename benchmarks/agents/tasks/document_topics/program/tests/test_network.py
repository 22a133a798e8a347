import torch
from documents import FEATURES, KINDS, make_documents
from network import SharedNetwork


def test_documents_are_of_all_kinds():
    documents = make_documents(60, seed=0)
    assert {document.kind for document in documents} == set(range(len(KINDS)))
    assert documents[0].features.shape == (FEATURES,)


def test_topics_are_probabilities():
    torch.manual_seed(0)
    for document in make_documents(6, seed=1):
        topics = SharedNetwork()(document.features, document.kind)
        assert torch.allclose(topics.sum(), torch.tensor(1.0))


def test_each_kind_has_its_own_topics():
    torch.manual_seed(0)
    network = SharedNetwork()
    features = torch.rand(FEATURES)
    answers = torch.stack([network(features, kind) for kind in range(len(KINDS))])
    assert len(torch.unique(answers, dim=0)) == len(KINDS)


def test_a_state_can_be_loaded():
    torch.manual_seed(0)
    network, other = SharedNetwork(), SharedNetwork()
    other.load_state_dict(network.state_dict())
    features = torch.rand(FEATURES)
    assert torch.equal(network(features, 2), other(features, 2))
