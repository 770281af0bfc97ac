"""Reverses each block's part of a vector, and forgets to wait until all of it is in shared memory."""
import numpy as np
from numba import cuda, float32


@cuda.jit(lineinfo=True)
def reverse(out, x):
    tile = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = x[i]
    out[i] = tile[127 - t]  # <- E-RACE-SHARED


x = np.arange(512, dtype=np.float32)
out = cuda.device_array_like(x)
reverse[4, 128](out, cuda.to_device(x))
cuda.synchronize()
