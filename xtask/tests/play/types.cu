// Every type, with and without `extern "C"`, and the course's headers.
// play: half_ = f16[2] 0.5, print
// play: brain = bf16[2] {0.25 3}, print
// play: small = i8[2] -7, print
// play: words = u64[2] ramp, print
// play: doubles = double[2] random, print
// play: s = 2.5
// play: all_types<<<1, dim3(2, 1), 64>>>(half_, brain, small, words, doubles, s, 3, 1)
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void all_types(__half* half_, __nv_bfloat16* brain, char* small, size_t* words, double* doubles,
                                     double s, unsigned short n, bool yes) {
    int i = threadIdx.x;
    half_[i] = half_[i] + __float2half(1.0f);
    brain[i] = brain[i] + __float2bfloat16(1.0f);
    small[i] += yes;
    words[i] += n;
    doubles[i] *= s;
}
