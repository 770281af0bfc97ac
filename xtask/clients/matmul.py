"""Tiles of two matrices in shared memory."""
import numpy as np
from numba import cuda, float32

T = 16


@cuda.jit
def matmul(c, a, b):
    ta = cuda.shared.array((T, T), float32)
    tb = cuda.shared.array((T, T), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    acc = float32(0)
    for k in range(0, a.shape[1], T):
        ta[tx, ty] = a[x, k + ty] if x < a.shape[0] and k + ty < a.shape[1] else 0
        tb[tx, ty] = b[k + tx, y] if k + tx < b.shape[0] and y < b.shape[1] else 0
        cuda.syncthreads()
        for i in range(T):
            acc += ta[tx, i] * tb[i, ty]
        cuda.syncthreads()
    if x < c.shape[0] and y < c.shape[1]:
        c[x, y] = acc


rng = np.random.default_rng(1)
a = rng.integers(-4, 5, (40, 50)).astype(np.float32)
b = rng.integers(-4, 5, (50, 30)).astype(np.float32)
c = np.zeros((40, 30), np.float32)
matmul[(3, 2), (T, T)](c, a, b)
assert np.array_equal(c, a @ b)
print("right")
