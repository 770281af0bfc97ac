// One warp waits for the cluster, the other one for the first at a barrier of the block.
// fail: E-DEADLOCK
// launch: k<<<2, 64>>>()
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2) k() {
    cg::cluster_group cluster = cg::this_cluster();
    if (cluster.block_rank() == 0 && threadIdx.x < 32) asm volatile("bar.sync 1, 64;" ::: "memory");
    cluster.sync();
}
