"""Two vectors, and one thread an element."""
import numpy as np
from numba import cuda


@cuda.jit
def add(out, x, y):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


n = 100_003
x = np.arange(n, dtype=np.float32)
out = cuda.device_array(n, dtype=np.float32)
add[(n + 255) // 256, 256](out, cuda.to_device(x), cuda.to_device(2 * x))
assert np.array_equal(out.copy_to_host(), x + 2 * x)
print("right")
