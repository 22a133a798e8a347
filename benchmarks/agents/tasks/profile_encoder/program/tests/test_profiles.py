import torch
from encode import Directory
from encoder import ProfileEncoder
from fields import FIELDS, make_profile


def test_profiles_have_known_fields():
    generator = torch.Generator().manual_seed(0)
    sizes = {field.name: (field.size,) for field in FIELDS}
    for _ in range(20):
        profile = make_profile(generator)
        assert profile
        assert all(values.shape == sizes[name] for name, values in profile.items())


def test_only_known_fields_count():
    torch.manual_seed(0)
    directory = Directory(ProfileEncoder())
    age = torch.randn(2)
    directory.add({"age": age})
    directory.add({"age": age, "likes": torch.randn(4)})
    directory.add({"age": age})
    assert directory.likeness(0, 2) > 0.9999
    assert directory.likeness(0, 1) < 0.9999


def test_vectors_have_length_one():
    torch.manual_seed(0)
    directory = Directory(ProfileEncoder())
    directory.add({"places": torch.randn(5)})
    assert abs(directory.likeness(0, 0) - 1) < 1e-5
