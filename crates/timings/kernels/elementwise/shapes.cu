// One operation on an element, found in various ways.
// sweep: columns = 768 4096; rows = 2^18/columns 2^22/columns 2^26/columns; block = 256
// launch: bias_by_division<<<{ceil(rows * columns, block)}, {block}>>>(x: f32[{rows * columns}], bias: f32[{columns}], y: f32[{rows * columns}] uninit, n: u64 = {rows * columns}, columns: u64 = {columns})
// launch: bias_by_division_int<<<{ceil(rows * columns, block)}, {block}>>>(x: f32[{rows * columns}], bias: f32[{columns}], y: f32[{rows * columns}] uninit, n: i32 = {rows * columns}, columns: i32 = {columns})
// launch: bias_by_row<<<{rows}, {block}>>>(x: f32[{rows * columns}], bias: f32[{columns}], y: f32[{rows * columns}] uninit, columns: i32 = {columns})
// launch: bias_square_blocks<<<({ceil(columns, 16)},{ceil(rows, 16)}), (16,16)>>>(x: f32[{rows * columns}], bias: f32[{columns}], y: f32[{rows * columns}] uninit, rows: i32 = {rows}, columns: i32 = {columns})
// launch: bias_columns_first<<<({ceil(rows, 16)},{ceil(columns, 16)}), (16,16)>>>(x: f32[{rows * columns}], bias: f32[{columns}], y: f32[{rows * columns}] uninit, rows: i32 = {rows}, columns: i32 = {columns})
// sweep: columns = 768; rows = 2^18/columns 2^22/columns 2^24/columns; block = 256
// sweep: columns = 4096; rows = 2^18/columns 2^22/columns 2^26/columns; block = 64 256 1024
// launch: bias_by_grid<<<({ceil(columns, block)},{rows}), {block}>>>(x: f32[{rows * columns}], bias: f32[{columns}], y: f32[{rows * columns}] uninit, columns: i32 = {columns})
// sweep: some
// launch: five_inputs<<<{ceil(n, block)}, {block}>>>(a: f32[{n}], b: f32[{n}], c: f32[{n}], d: f32[{n}], e: f32[{n}], y: f32[{n}] uninit, n: i32 = {n})
// launch: three_outputs<<<{ceil(n, block)}, {block}>>>(a: f32[{n}], x: f32[{n}] uninit, y: f32[{n}] uninit, z: f32[{n}] uninit, n: i32 = {n})
// launch: adam_f32<<<{ceil(n, block)}, {block}>>>(w: f32[{n}], g: f32[{n}], m: f32[{n}], v: f32[{n}] all 0.01, n: i32 = {n})
// launch: mask_half<<<{ceil(n, block)}, {block}>>>(x: f32[{n}], y: f32[{n}] uninit, n: i32 = {n})
extern "C" __global__ void bias_by_division(const float* x, const float* bias, float* y, size_t n, size_t columns) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + bias[i % columns];
}
extern "C" __global__ void bias_by_division_int(const float* x, const float* bias, float* y, int n, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + bias[i % columns];
}
extern "C" __global__ void bias_by_grid(const float* x, const float* bias, float* y, int columns) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < columns) y[blockIdx.y * columns + c] = x[blockIdx.y * columns + c] + bias[c];
}
extern "C" __global__ void bias_by_row(const float* x, const float* bias, float* y, int columns) {
    for (int c = threadIdx.x; c < columns; c += blockDim.x) {
        y[blockIdx.x * columns + c] = x[blockIdx.x * columns + c] + bias[c];
    }
}
extern "C" __global__ void bias_square_blocks(const float* x, const float* bias, float* y, int rows, int columns) {
    int r = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows && c < columns) y[r * columns + c] = x[r * columns + c] + bias[c];
}
extern "C" __global__ void bias_columns_first(const float* x, const float* bias, float* y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < columns) y[r * columns + c] = x[r * columns + c] + bias[c];
}
extern "C" __global__ void five_inputs(const float* a, const float* b, const float* c, const float* d, const float* e, float* y,
                                       int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a[i] * b[i] + c[i] * d[i] + e[i];
}
extern "C" __global__ void three_outputs(const float* a, float* x, float* y, float* z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    x[i] = a[i] + 1.0f;
    y[i] = a[i] * 2.0f;
    z[i] = a[i] * a[i];
}
extern "C" __global__ void adam_f32(float* w, const float* g, float* m, float* v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    m[i] = 0.9f * m[i] + 0.1f * g[i];
    v[i] = 0.999f * v[i] + 0.001f * g[i] * g[i];
    w[i] -= 0.001f * m[i] / (sqrtf(v[i]) + 1e-8f);
}
// Half of each warp's lanes take either way.
extern "C" __global__ void mask_half(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (i % 2) y[i] = expf(x[i]);
    else y[i] = x[i] * x[i];
}
