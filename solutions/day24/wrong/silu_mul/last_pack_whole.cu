// wrong: fault E-OOB-GLOBAL: rounds n up to whole packs of eight: the last one reads past the end.
#include "pack.cuh"

extern "C" __global__ void silu_mul(const __nv_bfloat16* gate, const __nv_bfloat16* up, __nv_bfloat16* out, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    auto one = [](float g, float u) { return g / (1.0f + __expf(-g)) * u; };
    for (size_t p = thread; p < (n + 7) / 8; p += threads) {
        store_pack(out, p, map(one, load_pack(gate, p), load_pack(up, p)));
    }
}
