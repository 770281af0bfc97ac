// Each block reads what the other one of its cluster has written.
// pass
// near: cluster/exchange_syncthreads
// launch: k<<<4, 32>>>(x: f32[128], y: f32[128] uninit)
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2) k(const float* x, float* y) {
    __shared__ float s[32];
    cg::cluster_group cluster = cg::this_cluster();
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    s[t] = x[i];
    cluster.sync();
    float* other = cluster.map_shared_rank(s, 1 - cluster.block_rank());
    float value = other[t];
    cluster.sync();
    y[i] = value;
}
