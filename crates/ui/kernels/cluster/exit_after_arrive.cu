// Rank 0 waits for rank 1, which has read its memory and does not wait itself.
// pass
// near: cluster/exit_after_read
// launch: k<<<2, 32>>>(x: f32[64], y: f32[32] uninit)
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2) k(const float* x, float* y) {
    __shared__ float s[32];
    cg::cluster_group cluster = cg::this_cluster();
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 32 + t];
    cluster.sync();
    if (cluster.block_rank() == 1) y[t] = *cluster.map_shared_rank(s + t, 0);
    cluster.barrier_arrive();
    if (cluster.block_rank() == 0) cluster.barrier_wait();
}
