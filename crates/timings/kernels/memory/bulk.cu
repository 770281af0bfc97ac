// Bulk copies (`cp.async.bulk`), and mbarriers that wait for them.
// sweep: n = 2^18 2^22 2^26; tile = 512 2048 8192
// launch: bulk_scale<<<{n / tile}, 256, {4 * tile}>>>(x: f32[{n}], y: f32[{n}] uninit, tile: i32 = {tile})
// launch: bulk_scale_ring<<<{min(n / tile, 132)}, 256, {16 * tile}>>>(x: f32[{n}], y: f32[{n}] uninit, tile: i32 = {tile}, tiles: i32 = {n / tile})
// launch: bulk_copy_ring<<<{min(n / tile, 132)}, 32, {16 * tile}>>>(x: f32[{n}], y: f32[{n}] uninit, tile: i32 = {tile}, tiles: i32 = {n / tile})
// launch: bulk_triad_roles<<<{min(n / tile, 132)}, 288, {24 * tile}>>>(x: f32[{n}], z: f32[{n}], y: f32[{n}] uninit, tile: i32 = {tile}, tiles: i32 = {n / tile})
// sweep: n = 2^18 2^22 2^26; block = 64 256
// launch: bulk_of_a_warp<<<{n / (8 * block)}, {block}>>>(x: f32[{n}], y: f32[{n}] uninit)
// launch: copies_arrive<<<{n / (16 * block)}, {block}>>>(x: f32[{n}], y: f32[{n}] uninit)
// sweep: columns = 1024 8192 32768; rows = 2^18/columns 2^22/columns 2^26/columns
// launch: bulk_row_sum<<<{rows}, 256, {4 * columns}>>>(x: f32[{rows * columns}], y: f32[{rows}] uninit, columns: i32 = {columns})
// launch: bulk_row_softmax<<<{rows}, 512, {4 * columns}>>>(x: f32[{rows * columns}], y: f32[{rows * columns}] uninit, columns: i32 = {columns})
// sweep: rounds = 64 512; block = 64 256 1024
// launch: meet_at_mbarrier<<<132, {block}>>>(y: f32[{132 * block}] uninit, rounds: i32 = {rounds})
// launch: hand_over<<<132, {block}>>>(y: f32[{132 * block}] uninit, rounds: i32 = {rounds})
typedef unsigned long long u64;
__device__ __forceinline__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void init(u64* object, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(at(object)), "r"(arrivals) : "memory");
}
__device__ __forceinline__ void arrive(u64* object) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(at(object)) : "memory");
}
__device__ __forceinline__ void expect(u64* object, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(at(object)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void wait(u64* object, int parity) {
    for (int ended = 0; !ended;) {
        asm volatile("{.reg .pred p;\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\tselp.b32 %0, 1, 0, p;}"
                     : "=r"(ended) : "r"(at(object)), "r"(parity) : "memory");
    }
}
__device__ __forceinline__ void load(void* to, const void* from, int bytes, u64* object) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :: "r"(at(to)), "l"(from), "r"(bytes), "r"(at(object)) : "memory");
}
__device__ __forceinline__ void store(void* to, const void* from, int bytes) {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" :: "l"(to), "r"(at(from)), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
extern __shared__ __align__(128) float smem[];
extern "C" __global__ void bulk_scale(const float* x, float* y, int tile) {
    __shared__ u64 full;
    if (threadIdx.x == 0) init(&full, 1);
    __syncthreads();
    u64 base = (u64)blockIdx.x * tile;
    if (threadIdx.x == 0) {
        expect(&full, 4 * tile);
        load(smem, x + base, 4 * tile, &full);
    }
    wait(&full, 0);
    for (int i = threadIdx.x; i < tile; i += blockDim.x) y[base + i] = 1.5f * smem[i];
}
extern "C" __global__ void bulk_scale_ring(const float* x, float* y, int tile, int tiles) {
    __shared__ u64 full[4];
    if (threadIdx.x == 0) {
        for (int s = 0; s < 4; s++) init(full + s, 1);
    }
    __syncthreads();
    int first = blockIdx.x, step = gridDim.x;
    if (threadIdx.x == 0) {
        for (int s = 0; s < 4; s++) {
            int t = first + s * step;
            if (t < tiles) { expect(full + s, 4 * tile); load(smem + s * tile, x + (u64)t * tile, 4 * tile, full + s); }
        }
    }
    int round = 0;
    for (int t = first; t < tiles; t += step, round++) {
        int s = round % 4;
        wait(full + s, round / 4 & 1);
        for (int i = threadIdx.x; i < tile; i += blockDim.x) y[(u64)t * tile + i] = 1.5f * smem[s * tile + i];
        __syncthreads();
        int next = t + 4 * step;
        if (threadIdx.x == 0 && next < tiles) {
            expect(full + s, 4 * tile);
            load(smem + s * tile, x + (u64)next * tile, 4 * tile, full + s);
        }
    }
}
extern "C" __global__ void bulk_copy_ring(const float* x, float* y, int tile, int tiles) {
    __shared__ u64 full[4];
    if (threadIdx.x != 0) return;
    for (int s = 0; s < 4; s++) init(full + s, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    int first = blockIdx.x, step = gridDim.x;
    for (int s = 0; s < 2; s++) {
        int t = first + s * step;
        if (t < tiles) { expect(full + s, 4 * tile); load(smem + s * tile, x + (u64)t * tile, 4 * tile, full + s); }
    }
    int round = 0;
    for (int t = first; t < tiles; t += step, round++) {
        int s = round % 4, next = t + 2 * step, free = (round + 2) % 4;
        // What was stored from there two rounds ago has been read.
        asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
        if (next < tiles) {
            expect(full + free, 4 * tile);
            load(smem + free * tile, x + (u64)next * tile, 4 * tile, full + free);
        }
        wait(full + s, round / 4 & 1);
        store(y + (u64)t * tile, smem + s * tile, 4 * tile);
    }
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
extern "C" __global__ void bulk_triad_roles(const float* x, const float* z, float* y, int tile, int tiles) {
    __shared__ u64 full[3], empty[3];
    if (threadIdx.x == 0) {
        for (int s = 0; s < 3; s++) { init(full + s, 1); init(empty + s, 8); }
    }
    __syncthreads();
    int first = blockIdx.x, step = gridDim.x, round = 0;
    if (threadIdx.x >= 256) {
        if (threadIdx.x > 256) return;
        for (int t = first; t < tiles; t += step, round++) {
            int s = round % 3;
            if (round >= 3) wait(empty + s, round / 3 + 1 & 1);
            expect(full + s, 8 * tile);
            load(smem + 2 * s * tile, x + (u64)t * tile, 4 * tile, full + s);
            load(smem + (2 * s + 1) * tile, z + (u64)t * tile, 4 * tile, full + s);
        }
        return;
    }
    for (int t = first; t < tiles; t += step, round++) {
        int s = round % 3;
        wait(full + s, round / 3 & 1);
        const float *a = smem + 2 * s * tile, *b = a + tile;
        for (int i = threadIdx.x; i < tile; i += 256) y[(u64)t * tile + i] = a[i] + 0.5f * b[i];
        __syncwarp();
        if (threadIdx.x % 32 == 0) arrive(empty + s);
    }
}
extern "C" __global__ void bulk_of_a_warp(const float* x, float* y) {
    __shared__ u64 full[8];
    __shared__ __align__(128) float tiles[8][256];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    u64 base = ((u64)blockIdx.x * (blockDim.x / 32) + warp) * 256;
    if (lane == 0) {
        init(full + warp, 1);
        expect(full + warp, 1024);
        load(tiles[warp], x + base, 1024, full + warp);
    }
    __syncwarp();
    wait(full + warp, 0);
    for (int i = lane; i < 256; i += 32) y[base + i] = 1.5f * tiles[warp][i];
}
extern "C" __global__ void copies_arrive(const float* x, float* y) {
    __shared__ u64 full;
    __shared__ __align__(16) float tile[16 * 256];
    if (threadIdx.x == 0) init(&full, blockDim.x);
    __syncthreads();
    u64 base = (u64)blockIdx.x * 16 * blockDim.x;
    for (int i = 0; i < 4; i++) {
        int from = 4 * (i * blockDim.x + threadIdx.x);
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(at(tile + from)), "l"(x + base + from) : "memory");
    }
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" :: "r"(at(&full)) : "memory");
    wait(&full, 0);
    for (int i = 0; i < 16; i++) {
        int from = i * blockDim.x + threadIdx.x;
        y[base + from] = 1.5f * tile[from];
    }
}
extern "C" __global__ void bulk_row_sum(const float* x, float* y, int columns) {
    __shared__ u64 full;
    __shared__ float sums[8];
    if (threadIdx.x == 0) {
        init(&full, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        expect(&full, 4 * columns);
        load(smem, x + (u64)blockIdx.x * columns, 4 * columns, &full);
    }
    __syncthreads();
    wait(&full, 0);
    float sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += smem[i];
    for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; w++) sum += sums[w];
        y[blockIdx.x] = sum;
    }
}
extern "C" __global__ void bulk_row_softmax(const float* x, float* y, int columns) {
    __shared__ u64 full;
    __shared__ float parts[16], sums[16];
    if (threadIdx.x == 0) {
        init(&full, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        expect(&full, 4 * columns);
        load(smem, x + (u64)blockIdx.x * columns, 4 * columns, &full);
    }
    __syncthreads();
    wait(&full, 0);
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float most = -3.4e38f, sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) most = fmaxf(most, smem[i]);
    for (int o = 16; o > 0; o /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, o));
    if (lane == 0) parts[warp] = most;
    __syncthreads();
    for (int w = 0; w < 16; w++) most = fmaxf(most, parts[w]);
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        float e = __expf(smem[i] - most);
        smem[i] = e;
        sum += e;
    }
    for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
    if (lane == 0) sums[warp] = sum;
    __syncthreads();
    sum = 0.0f;
    for (int w = 0; w < 16; w++) sum += sums[w];
    float scale = 1.0f / sum;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) smem[i] *= scale;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        store(y + (u64)blockIdx.x * columns, smem, 4 * columns);
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
}
extern "C" __global__ void meet_at_mbarrier(float* y, int rounds) {
    __shared__ u64 all;
    __shared__ float last[1024];
    if (threadIdx.x == 0) init(&all, blockDim.x);
    last[threadIdx.x] = threadIdx.x;
    __syncthreads();
    float sum = 0.0f;
    for (int i = 0; i < rounds; i++) {
        sum += last[(threadIdx.x + i) % blockDim.x];
        arrive(&all);
        wait(&all, i & 1);
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
extern "C" __global__ void hand_over(float* y, int rounds) {
    __shared__ u64 full, empty;
    __shared__ float box[32];
    int warps = blockDim.x / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) { init(&full, 32); init(&empty, 32 * (warps - 1)); }
    __syncthreads();
    float sum = 0.0f;
    for (int i = 0; i < rounds; i++) {
        if (warp == 0) {
            if (i > 0) wait(&empty, i + 1 & 1);
            box[lane] = i + lane;
            arrive(&full);
        } else {
            wait(&full, i & 1);
            sum += box[(lane + warp) % 32];
            arrive(&empty);
        }
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
