// Mbarriers, bulk copies one at a time and in numbers, and fences: one block, round after round.
// calibration
// sweep: rounds = 64 1024; block = 32 256 1024
// launch: mbarriers_ask<<<1, {block}>>>(y: f32[{block}] uninit, rounds: i32 = {rounds})
// launch: mbarriers_meet<<<1, {block}>>>(y: f32[{block}] uninit, rounds: i32 = {rounds})
// launch: fences_of_block<<<1, {block}>>>(y: f32[{block}] uninit, rounds: i32 = {rounds})
// launch: fences_of_device<<<1, {block}>>>(y: f32[{block}] uninit, rounds: i32 = {rounds})
// launch: fences_of_copies<<<1, {block}>>>(y: f32[{block}] uninit, rounds: i32 = {rounds})
// sweep: rounds = 64 1024
// launch: mbarriers_hand_over<<<1, 64>>>(y: f32[64] uninit, rounds: i32 = {rounds})
// sweep: rounds = 32 256; bytes = 128 2048 16384; copies = 1 4
// launch: bulk_loads<<<1, 32, {bytes * copies}>>>(x: f32[{bytes * copies / 4}], rounds: i32 = {rounds}, bytes: i32 = {bytes}, copies: i32 = {copies})
// launch: bulk_stores<<<1, 32, {bytes * copies}>>>(x: f32[{bytes * copies / 4}] uninit, rounds: i32 = {rounds}, bytes: i32 = {bytes}, copies: i32 = {copies})
typedef unsigned long long u64;
__device__ __forceinline__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void init(u64* object, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(at(object)), "r"(arrivals) : "memory");
}
__device__ __forceinline__ void arrive(u64* object) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(at(object)) : "memory");
}
__device__ __forceinline__ void wait(u64* object, int parity) {
    for (int ended = 0; !ended;) {
        asm volatile("{.reg .pred p;\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\tselp.b32 %0, 1, 0, p;}"
                     : "=r"(ended) : "r"(at(object)), "r"(parity) : "memory");
    }
}
extern __shared__ __align__(128) float smem[];
extern "C" __global__ void mbarriers_ask(float* y, int rounds) {
    __shared__ u64 all;
    if (threadIdx.x == 0) init(&all, 1);
    __syncthreads();
#pragma unroll 1
    for (int i = 0; i < rounds; i++) wait(&all, 1);
    y[threadIdx.x] = rounds;
}
extern "C" __global__ void mbarriers_meet(float* y, int rounds) {
    __shared__ u64 all;
    if (threadIdx.x == 0) init(&all, blockDim.x);
    __syncthreads();
#pragma unroll 1
    for (int i = 0; i < rounds; i++) { arrive(&all); wait(&all, i & 1); }
    y[threadIdx.x] = rounds;
}
extern "C" __global__ void fences_of_block(float* y, int rounds) {
#pragma unroll 1
    for (int i = 0; i < rounds; i++) __threadfence_block();
    y[threadIdx.x] = rounds;
}
extern "C" __global__ void fences_of_device(float* y, int rounds) {
#pragma unroll 1
    for (int i = 0; i < rounds; i++) __threadfence();
    y[threadIdx.x] = rounds;
}
extern "C" __global__ void fences_of_copies(float* y, int rounds) {
#pragma unroll 1
    for (int i = 0; i < rounds; i++) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    y[threadIdx.x] = rounds;
}
extern "C" __global__ void mbarriers_hand_over(float* y, int rounds) {
    __shared__ u64 full, empty;
    if (threadIdx.x == 0) { init(&full, 1); init(&empty, 1); }
    __syncthreads();
    if (threadIdx.x == 0) {
#pragma unroll 1
        for (int i = 0; i < rounds; i++) { arrive(&full); wait(&empty, i & 1); }
    }
    if (threadIdx.x == 32) {
#pragma unroll 1
        for (int i = 0; i < rounds; i++) { wait(&full, i & 1); arrive(&empty); }
    }
    y[threadIdx.x] = rounds;
}
extern "C" __global__ void bulk_loads(const float* x, int rounds, int bytes, int copies) {
    __shared__ u64 full;
    if (threadIdx.x != 0) return;
    init(&full, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#pragma unroll 1
    for (int i = 0; i < rounds; i++) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(at(&full)), "r"(bytes * copies) : "memory");
#pragma unroll 1
        for (int c = 0; c < copies; c++) {
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                         :: "r"(at(smem) + c * bytes), "l"((const char*)x + c * bytes), "r"(bytes), "r"(at(&full)) : "memory");
        }
        wait(&full, i & 1);
    }
}
extern "C" __global__ void bulk_stores(float* x, int rounds, int bytes, int copies) {
    for (int i = threadIdx.x; i < bytes * copies / 4; i += 32) smem[i] = i;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
    if (threadIdx.x != 0) return;
#pragma unroll 1
    for (int i = 0; i < rounds; i++) {
#pragma unroll 1
        for (int c = 0; c < copies; c++) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                         :: "l"((char*)x + c * bytes), "r"(at(smem) + c * bytes), "r"(bytes) : "memory");
        }
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
