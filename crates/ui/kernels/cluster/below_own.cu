// A generic pointer leads below the shared memory of the block of rank 1: it is none of rank 0's.
// fail: E-OOB-SHARED
// launch: k<<<2, 32>>>(x: f32[32], y: f32[64] uninit)
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ __noinline__ float before(const float* p) { return p[-1]; }
extern "C" __global__ void __cluster_dims__(2) k(const float* x, float* y) {
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    y[blockIdx.x * 32 + t] = blockIdx.x == 1 ? before(s) : s[t];
    cg::this_cluster().sync();
}
