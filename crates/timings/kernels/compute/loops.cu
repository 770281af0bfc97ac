// Kernels that compute more than they move.
// sweep: n = 2^14 2^18 2^22; degree = 8 32 128 512; block = 256
// launch: polynomial_f32<<<{ceil(n, block)}, {block}>>>(x: f32[{n}], y: f32[{n}] uninit, degree: i32 = {degree}, n: i32 = {n})
// launch: exponentials_f32<<<{ceil(n, block)}, {block}>>>(x: f32[{n}], y: f32[{n}] uninit, degree: i32 = {degree}, n: i32 = {n})
// sweep: n = 2^14 2^18 2^22; steps = 16 64; block = 64 256
// launch: newton_division<<<{ceil(n, block)}, {block}>>>(x: f32[{n}], y: f32[{n}] uninit, steps: i32 = {steps}, n: i32 = {n})
// launch: collatz_int<<<{ceil(n, block)}, {block}>>>(y: i32[{n}] uninit, steps: i32 = {steps}, n: i32 = {n})
// launch: mandelbrot_f32<<<{ceil(n, block)}, {block}>>>(y: i32[{n}] uninit, steps: i32 = {steps}, n: i32 = {n})
// launch: random_numbers<<<{ceil(n, block)}, {block}>>>(y: u32[{n}] uninit, steps: i32 = {steps}, n: i32 = {n})
// launch: polynomial_double<<<{ceil(n, block)}, {block}>>>(x: f64[{n}], y: f64[{n}] uninit, degree: i32 = {steps}, n: i32 = {n})
// sweep: n = 2^12 2^14 2^15; block = 128 256
// launch: n_body<<<{ceil(n, block)}, {block}, {16 * block}>>>(p: f32[{4 * n}], f: f32[{4 * n}] uninit, n: i32 = {n})
extern "C" __global__ void polynomial_f32(const float* x, float* y, int degree, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i] * 0.2f, sum = 0.0f;
    for (int k = 0; k < degree; k++) sum = sum * v + 1.0f;
    y[i] = sum;
}
extern "C" __global__ void exponentials_f32(const float* x, float* y, int degree, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    for (int k = 0; k < degree; k += 8) v = expf(-v * v);
    y[i] = v;
}
extern "C" __global__ void newton_division(const float* x, float* y, int steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a = fabsf(x[i]) + 1.0f, v = a;
    for (int k = 0; k < steps; k++) v = 0.5f * (v + a / v);
    y[i] = v;
}
extern "C" __global__ void collatz_int(int* y, int steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = i + 1, odd = 0;
    for (int k = 0; k < steps; k++) {
        if (v % 2) {
            v = 3 * v + 1;
            odd++;
        } else {
            v /= 2;
        }
    }
    y[i] = odd;
}
extern "C" __global__ void mandelbrot_f32(int* y, int steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float cr = (i % 128) / 64.0f - 1.5f, ci = (i / 128 % 128) / 64.0f - 1.0f, zr = 0.0f, zi = 0.0f;
    int k = 0;
    while (k < steps && zr * zr + zi * zi < 4.0f) {
        float next = zr * zr - zi * zi + cr;
        zi = 2.0f * zr * zi + ci;
        zr = next;
        k++;
    }
    y[i] = k;
}
extern "C" __global__ void random_numbers(unsigned* y, int steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = i * 747796405u + 2891336453u;
    for (int k = 0; k < steps; k++) {
        v ^= v << 13;
        v ^= v >> 17;
        v ^= v << 5;
        v = v * 1664525u + 1013904223u;
    }
    y[i] = v;
}
extern "C" __global__ void polynomial_double(const double* x, double* y, int degree, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double v = x[i] * 0.2, sum = 0.0;
    for (int k = 0; k < degree; k++) sum = sum * v + 1.0;
    y[i] = sum;
}
extern "C" __global__ void n_body(const float4* p, float4* f, int n) {
    extern __shared__ float4 tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 own = p[i];
    float x = 0.0f, y = 0.0f, z = 0.0f;
    for (int t = 0; t < n; t += blockDim.x) {
        tile[threadIdx.x] = p[t + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < blockDim.x; k++) {
            float dx = tile[k].x - own.x, dy = tile[k].y - own.y, dz = tile[k].z - own.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float s = tile[k].w * inverse * inverse * inverse;
            x += dx * s;
            y += dy * s;
            z += dz * s;
        }
        __syncthreads();
    }
    f[i] = make_float4(x, y, z, 0.0f);
}
