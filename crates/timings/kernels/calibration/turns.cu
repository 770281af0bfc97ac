// Several small accesses of a thread to neighbours, one after the other: which of them become one, and what the others cost.
// calibration
// sweep: n = 2^20 2^22; stride = 4; delay = 0 2 4 8 16 32 64
// launch: write_delayed<<<{n / 256}, 256>>>(y: f32[{n * stride}] uninit, a: f32 = 0.9, delay: i32 = {delay})
// sweep: n = 2^20 2^22; stride = 2 4 8
// launch: increment_turns<<<{n / 256}, 256>>>(y: f32[{n * stride}], stride: i32 = {stride})
// launch: write_turns_two_bytes<<<{n / 256}, 256>>>(y: i16[{n * stride}] uninit, stride: i32 = {stride})
// launch: read_turns_delayed<<<{n / 256}, 256>>>(x: f32[{n * stride}], y: f32[1], stride: i32 = {stride})
// sweep: n = 2^20 2^22 2^24 2^26 2^28
// launch: copy_permuted<<<{n / 256}, 256>>>(x: f32[{n}], y: f32[{n}] uninit, mask: u32 = {n / 32 - 1})
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

// Between two stores a chain of so many additions, which the next one's value waits for.
extern "C" __global__ void write_delayed(float* y, float a, int delay) {
    float v = threadIdx.x;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        for (int d = 0; d < delay; d++) v = v * a + a;
        y[(size_t)THREAD * 4 + k] = v;
    }
}
extern "C" __global__ void increment_turns(float* y, int stride) {
    for (int k = 0; k < stride; k++) y[(size_t)THREAD * stride + k] += 1.0f;
}
extern "C" __global__ void write_turns_two_bytes(short* y, int stride) {
    for (int k = 0; k < stride; k++) y[(size_t)THREAD * stride + k] = 1;
}
// Each word says where the next one is.
extern "C" __global__ void read_turns_delayed(const float* x, float* y, int stride) {
    float sum = 0.0f;
    for (int k = 0; k < stride; k++) {
        int far = sum > 1e30f;
        sum += x[(size_t)THREAD * stride + k + far];
    }
    if (sum > 100000.0f) *y = sum;
}
// Warps read and write whole lines, which may be any: but for the addresses a copy.
extern "C" __global__ void copy_permuted(const float* x, float* y, unsigned mask) {
    unsigned line = (THREAD / 32) * 2654435761u & mask;
    y[(size_t)line * 32 + threadIdx.x % 32] = x[(size_t)line * 32 + threadIdx.x % 32];
}
