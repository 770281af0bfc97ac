// Racy kernels, each with a correct one beside it that differs as little as possible.

// Shared memory.

extern "C" __global__ void shared_missing(float* out)
{
    __shared__ float tile[256];
    int t = threadIdx.x;
    tile[t] = out[t];
    out[t] = tile[(t + 32) % 256]; // reads
}

extern "C" __global__ void shared_clean(float* out)
{
    __shared__ float tile[256];
    int t = threadIdx.x;
    tile[t] = out[t];
    __syncthreads();
    out[t] = tile[(t + 32) % 256];
}

// The barrier at the end of the loop's body is missing: a fast warp overwrites what a slow one still reads.
extern "C" __global__ void loop_missing(const float* in, float* out)
{
    __shared__ float tile[256];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = 0; i < 4; ++i) {
        tile[t] = in[256 * i + t]; // overwrites
        __syncthreads();
        sum += tile[255 - t];
    }
    out[t] = sum;
}

extern "C" __global__ void loop_clean(const float* in, float* out)
{
    __shared__ float tile[256];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = 0; i < 4; ++i) {
        tile[t] = in[256 * i + t];
        __syncthreads();
        sum += tile[255 - t];
        __syncthreads();
    }
    out[t] = sum;
}

extern "C" __global__ void warp_missing(float* out)
{
    __shared__ float tile[32];
    int t = threadIdx.x;
    tile[t] = out[t];
    out[t] = tile[31 - t]; // same warp
}

extern "C" __global__ void warp_clean(float* out)
{
    __shared__ float tile[32];
    int t = threadIdx.x;
    tile[t] = out[t];
    __syncwarp();
    out[t] = tile[31 - t];
}

// Half a warp at a time.
extern "C" __global__ void half_clean(float* out)
{
    __shared__ float tile[32];
    int t = threadIdx.x;
    if (t < 16) {
        tile[t] = out[t];
        __syncwarp(0x0000ffffu);
        out[t] = tile[15 - t];
    } else {
        tile[t] = out[t];
        __syncwarp(0xffff0000u);
        out[t] = tile[47 - t];
    }
}

extern "C" __global__ void half_missing(float* out)
{
    __shared__ float tile[32];
    int t = threadIdx.x;
    if (t < 16) {
        tile[t] = out[t];
        __syncwarp(0x0000ffffu);
        out[t] = tile[31 - t]; // the other half
    } else {
        tile[t] = out[t];
        __syncwarp(0xffff0000u);
        out[t] = tile[31 - t];
    }
}

extern "C" __global__ void reduce_clean(const float* in, float* out)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

extern "C" __global__ void reduce_missing(const float* in, float* out)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) s[t] += s[t + half]; // no barrier behind
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

// Transposing through a padded tile.
extern "C" __global__ void transpose_clean(const float* in, float* out)
{
    __shared__ float tile[32][33];
    int x = threadIdx.x, y = threadIdx.y;
    for (int i = y; i < 32; i += 8) tile[i][x] = in[32 * i + x];
    __syncthreads();
    for (int i = y; i < 32; i += 8) out[32 * i + x] = tile[x][i];
}

extern "C" __global__ void transpose_missing(const float* in, float* out)
{
    __shared__ float tile[32][33];
    int x = threadIdx.x, y = threadIdx.y;
    for (int i = y; i < 32; i += 8) tile[i][x] = in[32 * i + x];
    for (int i = y; i < 32; i += 8) out[32 * i + x] = tile[x][i]; // column
}

// Global memory.

extern "C" __global__ void global_missing(float* x)
{
    int t = threadIdx.x;
    x[t] = t;
    x[256 + t] = x[255 - t]; // neighbour
}

extern "C" __global__ void global_clean(float* x)
{
    int t = threadIdx.x;
    x[t] = t;
    __syncthreads();
    x[256 + t] = x[255 - t];
}

extern "C" __global__ void blocks_missing(float* x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = i;
    __syncthreads();
    x[1024 + i] = x[1023 - i]; // another block's
}

// Rows of 13 bytes: blocks meet within a line, never within a byte.
extern "C" __global__ void neighbours_clean(signed char* x)
{
    if (threadIdx.x < 13) x[blockIdx.x * 13 + threadIdx.x] = (signed char)threadIdx.x;
}

// Every block reads the same weights.
extern "C" __global__ void weights_clean(const float* w, float* out)
{
    float sum = 0;
    for (int i = 0; i < 64; ++i) sum += w[i] * w[threadIdx.x % 64];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void benign(int* flag, const int* x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[i] < 0) *flag = 1; // the same value
}

extern "C" __global__ void last_one_wins(int* out) { *out = threadIdx.x; }

extern "C" __global__ void sum_missing(float* sum, const float* x)
{
    *sum += x[threadIdx.x]; // lost
}

extern "C" __global__ void sum_clean(float* sum, const float* x) { atomicAdd(sum, x[blockIdx.x * blockDim.x + threadIdx.x]); }

// Barriers.

extern "C" __global__ void two_barriers(float* out)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t < 32) {
        s[t] = out[t];
        __syncthreads(); // one
        out[t] = s[t + 32];
    } else {
        s[t] = out[t] + 1;
        __syncthreads(); // the other
        out[t] = s[t - 32] + 1;
    }
}

extern "C" __global__ void exited_clean(float* out)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t >= 40) return;
    s[t] = out[t];
    __syncthreads();
    out[t] = s[39 - t];
}

extern "C" __global__ void warp_before_barrier(int* out)
{
    int t = threadIdx.x;
    if (t < 16) out[t] = __shfl_sync(0xffffffffu, t, 0); // half of the warp
    __syncthreads(); // the other half
    out[t] += 1;
}

extern "C" __global__ void whole_warps_missing(int* out)
{
    int t = threadIdx.x;
    if (t < 64) asm volatile("bar.sync 1, 96;" ::: "memory"); // two warps of three
    out[t] = t;
}
