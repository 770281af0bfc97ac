// A wait at the barrier of the cluster without an arrival.
// fail: E-CLUSTER-BARRIER
// launch: k<<<2, 32>>>()
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2) k() {
    cg::cluster_group cluster = cg::this_cluster();
    if (cluster.block_rank() == 0) cluster.barrier_arrive();
    cluster.barrier_wait();
}
