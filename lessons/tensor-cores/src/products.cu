// Which elements a product of fragments multiplies: each kernel asks one form of `mma.sync`.
//
// A form says how many registers a lane has of A, of B and of the sums, how many elements a
// register holds, and the bits of a one.

// ANCHOR: form
struct M16N8K16Bf16 {
    typedef unsigned Factor;
    typedef float Sum;
    static const int A = 4, B = 2, SUMS = 4, EACH = 2;
    static const Factor ONE = 0x3f80;
    static __device__ void multiply(Sum* d, const Factor* a, const Factor* b) {
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
};
// ANCHOR_END: form

// The other forms with 16 x 8 sums in registers of 32 bits: by their registers of A and of B.
#define FORM(NAME, SUM, LETTER, EACH_, ONE_, TEXT, AS, BS, ...)                               \
    struct NAME {                                                                            \
        typedef unsigned Factor;                                                             \
        typedef SUM Sum;                                                                     \
        static const int A = AS, B = BS, SUMS = 4, EACH = EACH_;                             \
        static const Factor ONE = ONE_;                                                      \
        static __device__ void multiply(Sum* d, const Factor* a, const Factor* b) {          \
            asm volatile("mma.sync.aligned." TEXT                                            \
                         : "+" LETTER(d[0]), "+" LETTER(d[1]), "+" LETTER(d[2]),             \
                           "+" LETTER(d[3])                                                  \
                         : __VA_ARGS__);                                                     \
        }                                                                                    \
    };
#define FOUR_TWO " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
#define TWO_ONE " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
#define OF_FOUR_TWO \
    "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])
#define OF_TWO_ONE "r"(a[0]), "r"(a[1]), "r"(b[0])

FORM(M16N8K16F16, float, "f", 2, 0x3c00, "m16n8k16.row.col.f32.f16.f16.f32" FOUR_TWO, 4, 2,
     OF_FOUR_TWO)
FORM(M16N8K8Bf16, float, "f", 2, 0x3f80, "m16n8k8.row.col.f32.bf16.bf16.f32" TWO_ONE, 2, 1,
     OF_TWO_ONE)
FORM(M16N8K8F16, float, "f", 2, 0x3c00, "m16n8k8.row.col.f32.f16.f16.f32" TWO_ONE, 2, 1,
     OF_TWO_ONE)
FORM(M16N8K8Tf32, float, "f", 1, 0x3f800000, "m16n8k8.row.col.f32.tf32.tf32.f32" FOUR_TWO, 4, 2,
     OF_FOUR_TWO)
FORM(M16N8K4Tf32, float, "f", 1, 0x3f800000, "m16n8k4.row.col.f32.tf32.tf32.f32" TWO_ONE, 2, 1,
     OF_TWO_ONE)
FORM(M16N8K32S8, int, "r", 4, 1, "m16n8k32.row.col.s32.s8.s8.s32" FOUR_TWO, 4, 2, OF_FOUR_TWO)
FORM(M16N8K16S8, int, "r", 4, 1, "m16n8k16.row.col.s32.s8.s8.s32" TWO_ONE, 2, 1, OF_TWO_ONE)
#if __CUDA_ARCH__ >= 890
FORM(M16N8K32E4m3, float, "f", 4, 0x38, "m16n8k32.row.col.f32.e4m3.e4m3.f32" FOUR_TWO, 4, 2,
     OF_FOUR_TWO)
#endif

struct M8N8K16S8 {
    typedef unsigned Factor;
    typedef int Sum;
    static const int A = 1, B = 1, SUMS = 2, EACH = 4;
    static const Factor ONE = 1;
    static __device__ void multiply(Sum* d, const Factor* a, const Factor* b) {
        asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 "
                     "{%0, %1}, {%2}, {%3}, {%0, %1};"
                     : "+r"(d[0]), "+r"(d[1])
                     : "r"(a[0]), "r"(b[0]));
    }
};

struct M8N8K4F64 {
    typedef unsigned long long Factor;
    typedef double Sum;
    static const int A = 1, B = 1, SUMS = 2, EACH = 1;
    static const Factor ONE = 0x3ff0000000000000;
    static __device__ void multiply(Sum* d, const Factor* a, const Factor* b) {
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
                     "{%0, %1}, {%2}, {%3}, {%0, %1};"
                     : "+d"(d[0]), "+d"(d[1])
                     : "d"(__longlong_as_double(a[0])), "d"(__longlong_as_double(b[0])));
    }
};

// ANCHOR: partners
// Block b asks about element number b of B: that element is one, all others of B are zero. A
// sum is then the one element of A that is multiplied by it. Which one that is, is asked bit by
// bit: elements of A are one where their number has the bit. Numbers of A begin with 1, so that
// 0 says that the sum gets nothing.
template <class Form>
__device__ void partners(unsigned* found) {
    const int lane = threadIdx.x;
    unsigned number[Form::SUMS] = {};
    for (int bit = 0; bit < 10; bit++) {
        typename Form::Factor a[Form::A] = {}, b[Form::B] = {};
        typename Form::Sum sums[Form::SUMS] = {};
        const int width = 8 * sizeof(typename Form::Factor) / Form::EACH;
#pragma unroll
        for (int i = 0; i < Form::A * Form::EACH; i++) {
            const unsigned id = lane * Form::A * Form::EACH + i + 1;
            if (id >> bit & 1) a[i / Form::EACH] |= Form::ONE << i % Form::EACH * width;
        }
#pragma unroll
        for (int i = 0; i < Form::B * Form::EACH; i++) {
            const unsigned id = lane * Form::B * Form::EACH + i;
            if (id == blockIdx.x) b[i / Form::EACH] |= Form::ONE << i % Form::EACH * width;
        }
        Form::multiply(sums, a, b);
#pragma unroll
        for (int i = 0; i < Form::SUMS; i++) {
            if (sums[i] != 0) number[i] |= 1u << bit;
        }
    }
#pragma unroll
    for (int i = 0; i < Form::SUMS; i++) {
        found[(blockIdx.x * 32 + lane) * Form::SUMS + i] = number[i];
    }
}
// ANCHOR_END: partners

// Warps that do nothing but multiply. Each has four products whose sums are independent.
template <class Form>
__device__ void busy(int rounds, float* out) {
    typename Form::Factor a[Form::A] = {}, b[Form::B] = {};
    typename Form::Sum sums[4][Form::SUMS] = {};
    for (int i = 0; i < rounds; i++) {
#pragma unroll
        for (int j = 0; j < 4; j++) Form::multiply(sums[j], a, b);
    }
    float all = 0.0f;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        for (int i = 0; i < Form::SUMS; i++) all += (float)sums[j][i];
    }
    out[threadIdx.x] = all;
}

#define KERNELS(NAME, FORM)                                                                  \
    extern "C" __global__ void partners_##NAME(unsigned* found) { partners<FORM>(found); }   \
    extern "C" __global__ void busy_##NAME(int rounds, float* out) { busy<FORM>(rounds, out); }

KERNELS(m16n8k16_bf16, M16N8K16Bf16)
KERNELS(m16n8k16_f16, M16N8K16F16)
KERNELS(m16n8k8_bf16, M16N8K8Bf16)
KERNELS(m16n8k8_f16, M16N8K8F16)
KERNELS(m16n8k8_tf32, M16N8K8Tf32)
KERNELS(m16n8k4_tf32, M16N8K4Tf32)
KERNELS(m16n8k32_s8, M16N8K32S8)
KERNELS(m16n8k16_s8, M16N8K16S8)
KERNELS(m8n8k16_s8, M8N8K16S8)
KERNELS(m8n8k4_f64, M8N8K4F64)
#if __CUDA_ARCH__ >= 890
KERNELS(m16n8k32_e4m3, M16N8K32E4m3)
#endif

// The same without tensor cores: four times eight independent multiply-adds of f32 for each
// thread.
extern "C" __global__ void busy_fma(int rounds, float* out) {
    float sums[8] = {};
    const float a = threadIdx.x, b = rounds;
    for (int i = 0; i < rounds; i++) {
#pragma unroll
        for (int j = 0; j < 32; j++) sums[j % 8] = fmaf(sums[j % 8], a, b);
    }
    float all = 0.0f;
#pragma unroll
    for (int j = 0; j < 8; j++) all += sums[j];
    out[threadIdx.x] = all;
}
