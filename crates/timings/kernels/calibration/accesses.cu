// Accesses that are not one after the other, and atomics: what each form of them costs.
// calibration
// sweep: n = 2^20 2^24; stride = 2 4 8 32
// launch: write_apart<<<{n / 256}, 256>>>(y: f32[{n * stride}] uninit, stride: i32 = {stride})
// launch: read_apart<<<{n / 256}, 256>>>(x: f32[{n * stride}], y: f32[1], stride: i32 = {stride})
// launch: write_turns<<<{n / 256}, 256>>>(y: f32[{n * stride}] uninit, stride: i32 = {stride})
// launch: read_turns<<<{n / 256}, 256>>>(x: f32[{n * stride}], y: f32[1], stride: i32 = {stride})
// sweep: n = 2^20 2^22; range = 2^12 2^16 2^20 2^22 2^24 2^26 2^28
// launch: read_random<<<{n / 256}, 256>>>(x: f32[{range}], y: f32[1], mask: u32 = {range - 1})
// launch: read_random_rows<<<{n / 256}, 256>>>(x: f32[{range}], y: f32[1], mask: u32 = {range / 32 - 1})
// sweep: n = 2^18 2^22; bins = 1 32 256 2^12 2^16 2^20
// launch: add_int_global<<<{n / 256}, 256>>>(y: i32[{bins}] zero, mask: u32 = {bins - 1})
// launch: add_float_global<<<{n / 256}, 256>>>(y: f32[{bins}] zero, mask: u32 = {bins - 1})
// launch: add_int_lanes<<<{n / 256}, 256>>>(y: i32[{bins}] zero, mask: u32 = {bins - 1})
// sweep: steps = 64; block = 32 128 256 1024; bins = 1 2 32 1024
// launch: add_int_shared<<<132, {block}>>>(y: i32[1], mask: u32 = {bins - 1}, steps: i32 = {steps})
// launch: add_float_shared<<<132, {block}>>>(y: f32[1], mask: u32 = {bins - 1}, steps: i32 = {steps})
// launch: max_int_shared<<<132, {block}>>>(y: i32[1], mask: u32 = {bins - 1}, steps: i32 = {steps})
// sweep: steps = 64; block = 128 256 1024
// launch: shared_pairs<<<132, {block}>>>(y: f32[1], steps: i32 = {steps})
// launch: shared_fours<<<132, {block}>>>(y: f32[1], steps: i32 = {steps})
// launch: shared_one_for_all<<<132, {block}>>>(y: f32[1], steps: i32 = {steps})
// sweep: columns = 256 1024 4096; rows = 2^22/columns; block = 128 256
// launch: two_walks<<<{rows}, {block}>>>(x: f32[{rows * columns}], y: f32[{rows * columns}] uninit, columns: i32 = {columns})
// launch: walk_with_weights<<<{rows}, {block}>>>(x: f32[{rows * columns}], w: f32[{columns}], y: f32[{rows * columns}] uninit, columns: i32 = {columns})
// launch: two_walks_shared_sum<<<{rows}, {block}>>>(x: f32[{rows * columns}], y: f32[{rows * columns}] uninit, columns: i32 = {columns})
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void write_apart(float* y, int stride) {
    y[(size_t)THREAD * stride] = 1.0f;
}
extern "C" __global__ void read_apart(const float* x, float* y, int stride) {
    if (x[(size_t)THREAD * stride] > 100.0f) *y = 1.0f;
}
// Each thread has its own piece, a word at a time.
extern "C" __global__ void write_turns(float* y, int stride) {
    for (int k = 0; k < stride; k++) y[(size_t)THREAD * stride + k] = 1.0f;
}
extern "C" __global__ void read_turns(const float* x, float* y, int stride) {
    float sum = 0.0f;
    for (int k = 0; k < stride; k++) sum += x[(size_t)THREAD * stride + k];
    if (sum > 100000.0f) *y = sum;
}
__device__ unsigned mixed(unsigned v) {
    v = (v ^ v >> 16) * 0x7feb352du;
    v = (v ^ v >> 15) * 0x846ca68bu;
    return v ^ v >> 16;
}
extern "C" __global__ void read_random(const float* x, float* y, unsigned mask) {
    if (x[mixed(THREAD) & mask] > 100.0f) *y = 1.0f;
}
// A warp reads a whole line, which may be any.
extern "C" __global__ void read_random_rows(const float* x, float* y, unsigned mask) {
    if (x[(mixed(THREAD / 32) & mask) * 32 + threadIdx.x % 32] > 100.0f) *y = 1.0f;
}
extern "C" __global__ void add_int_global(int* y, unsigned mask) {
    atomicAdd(&y[mixed(THREAD) & mask], 1);
}
extern "C" __global__ void add_float_global(float* y, unsigned mask) {
    atomicAdd(&y[mixed(THREAD) & mask], 1.0f);
}
extern "C" __global__ void add_int_lanes(int* y, unsigned mask) {
    atomicAdd(&y[THREAD & mask], 1);
}
extern "C" __global__ void add_int_shared(int* y, unsigned mask, int steps) {
    __shared__ int bins[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) bins[i] = 0;
    __syncthreads();
    for (int k = 0; k < steps; k++) atomicAdd(&bins[mixed(threadIdx.x + k * 1024) & mask], 1);
    __syncthreads();
    if (bins[0] == -1) *y = 1;
}
extern "C" __global__ void max_int_shared(int* y, unsigned mask, int steps) {
    __shared__ int bins[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) bins[i] = 0;
    __syncthreads();
    for (int k = 0; k < steps; k++) atomicMax(&bins[mixed(threadIdx.x + k * 1024) & mask], k);
    __syncthreads();
    if (bins[0] == -1) *y = 1;
}
extern "C" __global__ void add_float_shared(float* y, unsigned mask, int steps) {
    __shared__ float bins[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) bins[i] = 0.0f;
    __syncthreads();
    for (int k = 0; k < steps; k++) atomicAdd(&bins[mixed(threadIdx.x + k * 1024) & mask], 1.0f);
    __syncthreads();
    if (bins[0] == -1.0f) *y = 1.0f;
}
extern "C" __global__ void shared_pairs(float* y, int steps) {
    __shared__ float s[2048];
    for (int i = threadIdx.x; i < 2048; i += blockDim.x) s[i] = i;
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < steps; k++) {
#pragma unroll
        for (int u = 0; u < 16; u++) sum += s[(threadIdx.x / 32) * 32 + u] * s[u * 32 + threadIdx.x % 32];
        __syncthreads();
    }
    if (sum == 12345.678f) *y = sum;
}
extern "C" __global__ void shared_fours(float* y, int steps) {
    __shared__ float4 s[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) s[i] = make_float4(i, i, i, i);
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < steps; k++) {
#pragma unroll
        for (int u = 0; u < 8; u++) {
            float4 v = s[(threadIdx.x + u * 32) % 1024];
            sum += v.x * v.y + v.z * v.w;
        }
        __syncthreads();
    }
    if (sum == 12345.678f) *y = sum;
}
extern "C" __global__ void shared_one_for_all(float* y, int steps) {
    __shared__ float s[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) s[i] = i;
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < steps; k++) {
        for (int u = 0; u < 32; u++) sum += s[u * 32 + k % 32];
        __syncthreads();
    }
    if (sum == 12345.678f) *y = sum;
}
__device__ float total(float v, float* part) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x % 32 < blockDim.x / 32 ? part[threadIdx.x % 32] : 0.0f;
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
    return v;
}
extern "C" __global__ void two_walks(const float* x, float* y, int columns) {
    __shared__ float part[32];
    x += (size_t)blockIdx.x * columns;
    y += (size_t)blockIdx.x * columns;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += x[c];
    sum = total(sum, part);
    for (int c = threadIdx.x; c < columns; c += blockDim.x) y[c] = x[c] - sum;
}
extern "C" __global__ void walk_with_weights(const float* x, const float* w, float* y, int columns) {
    x += (size_t)blockIdx.x * columns;
    y += (size_t)blockIdx.x * columns;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) y[c] = x[c] * w[c];
}
extern "C" __global__ void two_walks_shared_sum(const float* x, float* y, int columns) {
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0.0f;
    __syncthreads();
    x += (size_t)blockIdx.x * columns;
    y += (size_t)blockIdx.x * columns;
    float own = 0.0f;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) own += x[c];
    atomicAdd(&sum, own);
    __syncthreads();
    for (int c = threadIdx.x; c < columns; c += blockDim.x) y[c] = x[c] - sum;
}
