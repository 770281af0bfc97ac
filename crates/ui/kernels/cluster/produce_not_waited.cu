// One block writes into the other's memory, and the other does not wait.
// fail: E-RACE-CLUSTER
// launch: k<<<2, 32>>>(x: f32[32], y: f32[32] uninit)
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2) k(const float* x, float* y) {
    __shared__ float s[32];
    __shared__ unsigned long long bar;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar), there;
    int t = threadIdx.x;
    if (t == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(b), "r"(32) : "memory");
    cluster.sync();
    if (cluster.block_rank() == 0) {
        *cluster.map_shared_rank(s + t, 1) = x[t];
        asm volatile("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(there) : "r"(b));
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(there) : "memory");
    } else {
        ;
        y[t] = s[31 - t];
    }
    cluster.sync();
}
