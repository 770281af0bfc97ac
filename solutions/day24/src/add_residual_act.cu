// add_residual_act: out[i] = act(x[i] + residual[i]), all f32. `act` is one of three, which the launch is told by number:
//     0 relu(t) = max(t, 0)
//     1 gelu(t) = 0.5 t (1 + tanh(sqrt(2/pi) (t + 0.044715 t^3)))
//     2 silu(t) = t / (1 + exp(-t))
// One template, and three kernels made of it: add_residual_relu, add_residual_gelu, add_residual_silu.
//
// Unfused, this is two launches:          bytes per element
//     add          sum = x + residual         12
//     activation   out = act(sum)              8
// 20 bytes per element. One kernel can do it with 12: read x and residual, write out.
//
// Grade it with: cargo xtask grade add_residual_act

#include "activation.cuh"
#include "pack.cuh"

// ANCHOR: kernel
struct Relu {
    __device__ __forceinline__ float operator()(float t) const { return fmaxf(t, 0.0f); }
};
struct Gelu {
    __device__ __forceinline__ float operator()(float t) const { return gelu_fast(t); }
};
struct Silu {
    __device__ __forceinline__ float operator()(float t) const { return silu(t); }
};

// The activation is part of the type: the compiler writes it into the loop, and no thread asks which one it is.
template <typename Activation>
__device__ __forceinline__ void add_residual(const float* __restrict__ x, const float* __restrict__ residual, float* __restrict__ out, size_t n) {
    const Activation act;
    const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const size_t threads = (size_t)gridDim.x * blockDim.x;

    const size_t packs = aligned16(x, residual, out) ? n / 4 : 0;
    for (size_t p = thread; p < packs; p += threads) {
        const auto add_act = [=](float a, float b) { return act(a + b); };
        store_pack(out, p, map(add_act, load_pack(x, p), load_pack(residual, p)));
    }

    // Elements that fill no pack: at most three, or all of them where an address is not aligned.
    for (size_t i = 4 * packs + thread; i < n; i += threads) {
        out[i] = act(x[i] + residual[i]);
    }
}

extern "C" __global__ void add_residual_relu(const float* __restrict__ x, const float* __restrict__ residual, float* __restrict__ out, size_t n) {
    add_residual<Relu>(x, residual, out, n);
}
extern "C" __global__ void add_residual_gelu(const float* __restrict__ x, const float* __restrict__ residual, float* __restrict__ out, size_t n) {
    add_residual<Gelu>(x, residual, out, n);
}
extern "C" __global__ void add_residual_silu(const float* __restrict__ x, const float* __restrict__ residual, float* __restrict__ out, size_t n) {
    add_residual<Silu>(x, residual, out, n);
}
// ANCHOR_END: kernel
