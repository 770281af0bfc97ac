// Numerical methods as courses and benchmarks have them.
// by others
// sweep: n = 2^16 1000000 2^24 2^27; block = 256
// sweep: n = 2^24; block = 64 1024
// launch: saxpy<<<{ceil(n, block)}, {block}>>>(n: i32 = {n}, a: f32 = 2.0, x: f32[{n}], y: f32[{n}])
// sweep: n = 2^16 2^20 2^24 2^26; block = 256
// launch: daxpy_grid_stride<<<{min(ceil(n, block), 132 * 4)}, {block}>>>(n: u64 = {n}, a: f64 = 0.5, x: f64[{n}], y: f64[{n}])
// launch: complex_multiply<<<{ceil(n, block)}, {block}>>>(a: f32[{2 * n}], b: f32[{2 * n}], c: f32[{2 * n}] uninit, n: i32 = {n})
// sweep: threads = 2^13 2^17 2^20; samples = 32 500; block = 128
// launch: monte_carlo_pi<<<{threads / block}, {block}>>>(inside: u64[1] zero, samples: i32 = {samples}, seed: u32 = 12345)
// sweep: n = 2^16 1000000 2^22 2^25; block = 128
// sweep: n = 2^22; block = 512
// launch: black_scholes<<<{ceil(n, block)}, {block}>>>(call: f32[{n}] uninit, put: f32[{n}] uninit, price: f32[{n}] all 24, strike: f32[{n}] all 20, years: f32[{n}] all 2.5, rate: f32 = 0.02, volatility: f32 = 0.3, n: i32 = {n})
// sweep: n = 500 2000 8192; block = 64
// sweep: n = 4096; block = 32 256
// launch: n_body_double<<<{ceil(n, block)}, {block}>>>(bodies: f64[{4 * n}], forces: f64[{3 * n}] uninit, n: i32 = {n})
// sweep: n = 2^16 2^20 2^26; p = 1 512; block = 256
// launch: fft_radix2_step<<<{ceil(n / 2, block)}, {block}>>>(x: f32[{2 * n}], y: f32[{2 * n}] uninit, p: i32 = {p}, half: i32 = {n / 2})
// sweep: n = 2^13 2^17 2^20; steps = 10 100; block = 64
// launch: van_der_pol_rk4<<<{ceil(n, block)}, {block}>>>(state: f64[{2 * n}], out: f64[{2 * n}] uninit, n: i32 = {n}, steps: i32 = {steps}, dt: f64 = 0.001, mu: f64 = 0.5)
// sweep: systems = 2^10 2^14 2^18; m = 64; block = 128
// sweep: systems = 2^12; m = 512; block = 32 256
// launch: thomas_tridiagonal<<<{ceil(systems, block)}, {block}>>>(a: f32[{m * systems}] all -1, b: f32[{m * systems}] all 4, c: f32[{m * systems}] all -1, d: f32[{m * systems}], upper: f32[{m * systems}] uninit, x: f32[{m * systems}] uninit, systems: i32 = {systems}, m: i32 = {m})

extern "C" __global__ void saxpy(int n, float a, float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void daxpy_grid_stride(size_t n, double a, const double* __restrict__ x, double* __restrict__ y) {
    const size_t stride = (size_t)blockDim.x * gridDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) y[i] = fma(a, x[i], y[i]);
}

typedef float2 Complex;
static __device__ inline Complex ComplexMul(Complex a, Complex b) {
    Complex c;
    c.x = a.x * b.x - a.y * b.y;
    c.y = a.x * b.y + a.y * b.x;
    return c;
}
extern "C" __global__ void complex_multiply(const Complex* a, const Complex* b, Complex* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = ComplexMul(a[i], b[i]);
}

__device__ float uniform(unsigned& state) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) * (1.0f / 16777216.0f);
}
extern "C" __global__ void monte_carlo_pi(unsigned long long* inside, int samples, unsigned seed) {
    unsigned state = seed + (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u;
    int hits = 0;
    for (int s = 0; s < samples; s++) {
        float x = uniform(state);
        float y = uniform(state);
        if (x * x + y * y <= 1.0f) hits++;
    }
    for (int d = 16; d > 0; d /= 2) hits += __shfl_down_sync(0xffffffff, hits, d);
    if (threadIdx.x % 32 == 0) atomicAdd(inside, (unsigned long long)hits);
}

// The cumulative normal distribution by a polynomial.
__device__ inline float cnd(float d) {
    const float A1 = 0.31938153f, A2 = -0.356563782f, A3 = 1.781477937f, A4 = -1.821255978f, A5 = 1.330274429f;
    const float RSQRT2PI = 0.39894228040143267793994605993438f;
    float k = __fdividef(1.0f, 1.0f + 0.2316419f * fabsf(d));
    float value = RSQRT2PI * __expf(-0.5f * d * d) * (k * (A1 + k * (A2 + k * (A3 + k * (A4 + k * A5)))));
    if (d > 0) value = 1.0f - value;
    return value;
}
extern "C" __global__ void black_scholes(float* __restrict__ call, float* __restrict__ put,
                                         const float* __restrict__ price, const float* __restrict__ strike,
                                         const float* __restrict__ years, float rate, float volatility, int n) {
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= n) return;
    const float s = price[i], x = strike[i], t = years[i];
    float root = sqrtf(t);
    float d1 = (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
    float d2 = d1 - volatility * root;
    float cnd1 = cnd(d1), cnd2 = cnd(d2);
    float discount = expf(-rate * t);
    call[i] = s * cnd1 - x * discount * cnd2;
    put[i] = x * discount * (1.0f - cnd2) - s * (1.0f - cnd1);
}

struct Body {
    double x, y, z, mass;
};
extern "C" __global__ void n_body_double(const Body* bodies, double* forces, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Body own = bodies[i];
    double fx = 0, fy = 0, fz = 0;
    for (int j = 0; j < n; j++) {
        double dx = bodies[j].x - own.x, dy = bodies[j].y - own.y, dz = bodies[j].z - own.z;
        double squared = dx * dx + dy * dy + dz * dz + 1e-9;
        double inverse = 1.0 / sqrt(squared);
        double scale = bodies[j].mass * inverse * inverse * inverse;
        fx += dx * scale;
        fy += dy * scale;
        fz += dz * scale;
    }
    forces[3 * i] = own.mass * fx;
    forces[3 * i + 1] = own.mass * fy;
    forces[3 * i + 2] = own.mass * fz;
}

// A pass of Stockham's FFT: transforms of length p become transforms of length 2 p.
extern "C" __global__ void fft_radix2_step(const float2* x, float2* y, int p, int half) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= half) return;
    int k = i & (p - 1);
    float2 u = x[i], v = x[i + half];
    float s, c;
    sincospif(-(float)k / (float)p, &s, &c);
    v = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
    int j = 2 * i - k;
    y[j] = make_float2(u.x + v.x, u.y + v.y);
    y[j + p] = make_float2(u.x - v.x, u.y - v.y);
}

__device__ double2 van_der_pol(double2 s, double mu) {
    return make_double2(s.y, mu * (1.0 - s.x * s.x) * s.y - s.x);
}
__device__ double2 along(double2 s, double h, double2 d) {
    return make_double2(s.x + h * d.x, s.y + h * d.y);
}
extern "C" __global__ void van_der_pol_rk4(const double2* state, double2* out, int n, int steps, double dt, double mu) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double2 s = state[i];
    for (int step = 0; step < steps; ++step) {
        double2 k1 = van_der_pol(s, mu);
        double2 k2 = van_der_pol(along(s, 0.5 * dt, k1), mu);
        double2 k3 = van_der_pol(along(s, 0.5 * dt, k2), mu);
        double2 k4 = van_der_pol(along(s, dt, k3), mu);
        s.x += dt / 6.0 * (k1.x + 2.0 * k2.x + 2.0 * k3.x + k4.x);
        s.y += dt / 6.0 * (k1.y + 2.0 * k2.y + 2.0 * k3.y + k4.y);
    }
    out[i] = s;
}

// A thread solves a system; row k of all of them lies together.
extern "C" __global__ void thomas_tridiagonal(const float* a, const float* b, const float* c, const float* d,
                                              float* upper, float* x, int systems, int m) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= systems) return;
    upper[s] = c[s] / b[s];
    x[s] = d[s] / b[s];
    for (int k = 1; k < m; k++) {
        int at = k * systems + s, before = at - systems;
        float scale = 1.0f / (b[at] - a[at] * upper[before]);
        upper[at] = c[at] * scale;
        x[at] = (d[at] - a[at] * x[before]) * scale;
    }
    for (int at = (m - 2) * systems + s; at >= 0; at -= systems) x[at] -= upper[at] * x[at + systems];
}
