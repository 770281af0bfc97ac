// Arithmetic that C++ leaves undefined or that wraps, each beside a near miss that does not.

// L-INDEX-OVERFLOW
extern "C" __global__ void grid_index(float* out, int stride, int size)
{
    int i = blockIdx.x * stride + threadIdx.x;  // overflows
    if (i >= 0 && i < size) out[i] = 1;
}

extern "C" __global__ void rows_and_columns(float* out, int row, int columns, int size)
{
    int at = row * columns + threadIdx.x;  // a product past 2^31
    if (at >= 0 && at < size) out[at] = 1;
}

extern "C" __global__ void unsigned_rows(float* out, unsigned row, unsigned columns, unsigned size)
{
    unsigned at = row * columns + threadIdx.x;  // a product past 2^32
    if (at < size) out[at] = 1;
}

extern "C" __global__ void wide_rows(float* out, int row, int columns, int size)
{
    long long at = (long long)row * columns + threadIdx.x;
    if (at >= 0 && at < size) out[at] = 1;
}

extern "C" __global__ void faulting(float* out, int row, int columns)
{
    out[row * columns + (int)threadIdx.x] = 1;  // lands before the buffer
}

extern "C" __global__ void negative(const float* x, float* out, int halo)
{
    int i = threadIdx.x - halo;
    out[threadIdx.x] = i >= 0 ? x[i] : 0;
}

extern "C" __global__ void before(const float* x, float* out, unsigned n)
{
    unsigned i = threadIdx.x;
    if (i > 0 && i < n) out[i] = x[i - 1];
}

extern "C" __global__ void hashed(float* out, unsigned buckets)
{
    unsigned h = threadIdx.x * 2654435761u;
    h = (h ^ (h >> 16)) * 2246822519u;
    out[h % buckets] = 1;
}

// L-SHIFT
extern "C" __global__ void shifts(const int* by, unsigned* out)
{
    int t = threadIdx.x;
    out[t] = 1u << by[t];  // may be 32
}

extern "C" __global__ void wide_shifts(const int* by, unsigned long long* out)
{
    int t = threadIdx.x;
    out[t] = 1ull << by[t];
}

extern "C" __global__ void guarded_shifts(const int* by, unsigned* out)
{
    int t = threadIdx.x;
    out[t] = by[t] < 32 ? 1u << by[t] : 0;
}

// L-FLOAT-TO-INT
extern "C" __global__ void to_int(const float* x, int* out)
{
    int t = threadIdx.x;
    out[t] = (int)x[t];  // may not fit
}

extern "C" __global__ void to_int_clamped(const float* x, int* out)
{
    int t = threadIdx.x;
    out[t] = (int)fminf(fmaxf(x[t], -128.0f), 127.0f);
}

// L-DIVIDE-BY-ZERO
extern "C" __global__ void divides(const int* by, int* out)
{
    int t = threadIdx.x;
    out[t] = 1000 / by[t];  // may be 0
}

extern "C" __global__ void remainders(const unsigned long long* by, unsigned long long* out)
{
    int t = threadIdx.x;
    out[t] = 1000000007ull % by[t];  // may be 0
}

extern "C" __global__ void guarded_division(const int* by, int* out)
{
    int t = threadIdx.x;
    out[t] = by[t] ? 1000 / by[t] : 0;
}
