"""As little of torch as batched environments need: a tensor that knows its device, and gives numpy only on the CPU."""

from __future__ import annotations

import numpy as np

float32 = np.float32


class Tensor:
    def __init__(self, values, device="cpu"):
        self.values, self.device = np.asarray(values), str(device)

    @property
    def shape(self):
        return self.values.shape

    def detach(self):
        return self

    def cpu(self):
        return Tensor(self.values)

    def numpy(self):
        if self.device != "cpu":
            raise TypeError(f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() first.")
        return self.values

    def __array__(self, dtype=None, copy=None):
        return self.numpy().astype(dtype or self.values.dtype)


def as_tensor(values, dtype=None, device="cpu"):
    return Tensor(np.asarray(values, dtype), device)
