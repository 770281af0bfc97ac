"""A sum: warps by shuffles, blocks in shared memory, the grid by an atomic; and numba's own reduction."""
import numpy as np
from numba import cuda, int64


@cuda.jit
def total(out, x):
    warps = cuda.shared.array(32, int64)
    i, lane, warp = cuda.grid(1), cuda.threadIdx.x % 32, cuda.threadIdx.x // 32
    value = int64(0)
    while i < x.size:
        value += x[i]
        i += cuda.gridsize(1)
    offset = 16
    while offset > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
        offset //= 2
    if lane == 0:
        warps[warp] = value
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        value = int64(0)
        for w in range(cuda.blockDim.x // 32):
            value += warps[w]
        cuda.atomic.add(out, 0, value)


x = np.arange(10_000, dtype=np.int64)
out = np.zeros(1, np.int64)
total[8, 128](out, x)
assert out[0] == x.sum(), out

largest = cuda.reduce(lambda a, b: max(a, b))
assert largest(np.array([3, 9, 4], np.int64)) == 9
print("right")
