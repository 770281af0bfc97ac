// The result has 16 columns, and is stored as if it had 24.
// fail: E-OOB-GLOBAL
// launch: k<<<1, 32>>>(x: f16[512], w: f16[512], y: f32[256] uninit)
#include <mma.h>
using namespace nvcuda::wmma;
extern "C" __global__ void k(const __half* x, const __half* w, float* y) {
    fragment<matrix_a, 16, 16, 16, __half, row_major> a;
    fragment<matrix_b, 16, 16, 16, __half, col_major> b;
    fragment<accumulator, 16, 16, 16, float> d;
    fill_fragment(d, 0.0f);
    for (int k = 0; k < 32; k += 16) {
        load_matrix_sync(a, x + k, 32);
        load_matrix_sync(b, w + k, 32);
        mma_sync(d, a, b, d);
    }
    store_matrix_sync(y, d, 24, mem_row_major);
}
