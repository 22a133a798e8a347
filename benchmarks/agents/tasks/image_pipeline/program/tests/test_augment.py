import torch
from augment import Augmentation, Blur, normalize, to_unit_range
from sources import camera_images


def test_bytes_become_values_up_to_one():
    images = torch.tensor([0.0, 51.0, 255.0])
    assert torch.allclose(to_unit_range(images), torch.tensor([0.0, 0.2, 1.0]))


def test_values_up_to_one_stay():
    images = torch.tensor([0.0, 0.2, 1.0])
    assert torch.equal(to_unit_range(images), images)


def test_blur_keeps_a_flat_image():
    flat = torch.full((1, 3, 8, 8), 0.5)
    assert torch.allclose(Blur()(flat)[..., 1:-1, 1:-1], flat[..., 1:-1, 1:-1])


def test_both_cameras_give_alike_images():
    unit, bytes_ = camera_images(2, batch=64, seed=0)
    augment = Augmentation()
    assert abs(augment(unit).mean() - augment(bytes_).mean()) < 0.05


def test_normalization_is_per_channel():
    assert normalize(torch.zeros(1, 3, 2, 2))[0, :, 0, 0].unique().numel() == 3
