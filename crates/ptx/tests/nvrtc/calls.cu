// Calls: direct, recursive, indirect, with a structure, to the device runtime; and a jump table.
struct Pair {
    double value;
    int parts[3];
};

__device__ __noinline__ float twice(float x) { return 2.0f * x; }
__device__ __noinline__ float half(float x) { return 0.5f * x; }
__device__ float (*const table[])(float) = {twice, half};
__device__ __noinline__ Pair shifted(Pair pair, int by) {
    pair.parts[by % 3] += by;
    pair.value *= by;
    return pair;
}
__device__ __noinline__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

__device__ __noinline__ int chosen(int which, int x) {
    switch (which) {
    case 0: return x * 3;
    case 1: return x / 7;
    case 2: return __popc(x);
    case 3: return x ^ 0x55;
    case 4: return __clz(x);
    case 5: return x % 11;
    case 6: return x - 9;
    default: return 0;
    }
}

extern "C" __global__ void calls(float *out, Pair pair, int n) {
    pair = shifted(pair, n);
    out[0] = table[n & 1](out[1]) + float(pair.value) + pair.parts[1];
    out[2] = factorial(n) + chosen(n, n);
    float *scratch = static_cast<float *>(malloc(16));
    scratch[n] = out[n];
    printf("%d %f\n", n, scratch[1]);
    free(scratch);
    assert(n > 0);
}
