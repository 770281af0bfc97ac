"""A histogram in shared memory, and a maximum."""
import numpy as np
from numba import cuda, int32


@cuda.jit
def histogram(bins, largest, x):
    own = cuda.shared.array(10, int32)
    if cuda.threadIdx.x < 10:
        own[cuda.threadIdx.x] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(own, x[i], 1)
        cuda.atomic.max(largest, 0, x[i])
    cuda.syncthreads()
    if cuda.threadIdx.x < 10:
        cuda.atomic.add(bins, cuda.threadIdx.x, own[cuda.threadIdx.x])


x = (np.arange(5000) * 7 % 9).astype(np.int32)
bins, largest = np.zeros(10, np.int32), np.zeros(1, np.int32)
histogram[20, 256](bins, largest, x)
assert np.array_equal(bins, np.bincount(x, minlength=10)) and largest[0] == 8
print("right")
