"""Runs another script with its tensors on the device: `on_device.py SCRIPT [ARGUMENTS]`."""

import os
import runpy
import sys

import torch

torch.set_default_device(os.environ["DEVICE"])
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
