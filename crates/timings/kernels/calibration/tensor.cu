// Chains of `mma`: with one warp per scheduler and one chain the latency from sum to sum, with four chains in many warps the rate.
// None is of 8-bit floats. Compute capability 9.0 has no instruction for them, and ptxas takes what it makes of them out of the loop.
// calibration
// One step is for the test that each kernel is sound: the emulated device takes its time for a product.
// sweep: steps = 1 64; block = 128 512
// launch: chain_bf16<<<132, {block}>>>(y: f32[1] uninit, steps: i32 = {steps})
// launch: chain_f16<<<132, {block}>>>(y: f32[1] uninit, steps: i32 = {steps})
// launch: chain_tf32<<<132, {block}>>>(y: f32[1] uninit, steps: i32 = {steps})
// launch: chain_s8<<<132, {block}>>>(y: f32[1] uninit, steps: i32 = {steps})
// launch: chain_f64<<<132, {block}>>>(y: f32[1] uninit, steps: i32 = {steps})
// launch: four_chains_bf16<<<132, {block}>>>(y: f32[1] uninit, steps: i32 = {steps})
// launch: four_chains_f16<<<132, {block}>>>(y: f32[1] uninit, steps: i32 = {steps})
// launch: four_chains_tf32<<<132, {block}>>>(y: f32[1] uninit, steps: i32 = {steps})
// launch: four_chains_s8<<<132, {block}>>>(y: f32[1] uninit, steps: i32 = {steps})
// launch: four_chains_f64<<<132, {block}>>>(y: f32[1] uninit, steps: i32 = {steps})

// D += A * B, where D has four registers; two with sums in f16.
#define FOUR_SUMS(SHAPE, CONSTRAINT)                                                                                 \
    asm volatile("mma.sync.aligned." SHAPE " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                  \
                 : "+" CONSTRAINT(d[0]), "+" CONSTRAINT(d[1]), "+" CONSTRAINT(d[2]), "+" CONSTRAINT(d[3])             \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

struct Bf16 {
    float d[4] = {};
    __device__ void multiply(const unsigned* a, const unsigned* b) { FOUR_SUMS("m16n8k16.row.col.f32.bf16.bf16.f32", "f"); }
};
struct F16 {
    unsigned d[2] = {};
    __device__ void multiply(const unsigned* a, const unsigned* b) {
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
                     : "+r"(d[0]), "+r"(d[1])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
};
struct Tf32 {
    float d[4] = {};
    __device__ void multiply(const unsigned* a, const unsigned* b) { FOUR_SUMS("m16n8k8.row.col.f32.tf32.tf32.f32", "f"); }
};
struct S8 {
    int d[4] = {};
    __device__ void multiply(const unsigned* a, const unsigned* b) { FOUR_SUMS("m16n8k32.row.col.s32.s8.s8.s32", "r"); }
};
struct F64 {
    double d[2] = {};
    __device__ void multiply(const unsigned* a, const unsigned* b) {
        const double x = a[0], y = b[0];
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                     : "+d"(d[0]), "+d"(d[1])
                     : "d"(x), "d"(y));
    }
};

template <typename Sums, int CHAINS>
__device__ void chain(float* y, int steps) {
    const unsigned a[4] = {threadIdx.x & 1, threadIdx.x & 2, 0, 0}, b[2] = {threadIdx.x & 1, 0};
    Sums sums[CHAINS];
    for (int k = 0; k < steps; k++) {
#pragma unroll
        for (int u = 0; u < 16; u++) {
#pragma unroll
            for (int c = 0; c < CHAINS; c++) sums[c].multiply(a, b);
        }
    }
    float sum = 0;
    for (int c = 0; c < CHAINS; c++) sum += (float)sums[c].d[0];
    if (sum == 12345.0f) *y = sum;
}

#define KERNELS(NAME, SUMS)                                                                     \
    extern "C" __global__ void chain_##NAME(float* y, int steps) { chain<SUMS, 1>(y, steps); } \
    extern "C" __global__ void four_chains_##NAME(float* y, int steps) { chain<SUMS, 4>(y, steps); }
KERNELS(bf16, Bf16)
KERNELS(f16, F16)
KERNELS(tf32, Tf32)
KERNELS(s8, S8)
KERNELS(f64, F64)
