// Two arrivals at the barrier of the cluster without a wait in between.
// fail: E-CLUSTER-BARRIER
// launch: k<<<2, 32>>>()
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2) k() {
    cg::cluster_group cluster = cg::this_cluster();
    cluster.barrier_arrive();
    cluster.sync();
}
