// Stencils of textbooks: on grids of two and three dimensions, on signals and on images.
// by others
// sweep: nx = 250 1024 4096 8192; ny = nx; bx = 16; by = 16
// sweep: nx = 4096; ny = 4000; bx = 32 64; by = 8
// launch: jacobi_5pt<<<({ceil(nx, bx)},{ceil(ny, by)}), ({bx},{by})>>>(u: f32[{nx * ny}], u_new: f32[{nx * ny}] uninit, nx: i32 = {nx}, ny: i32 = {ny})
// sweep: nx = 250 1024 4096 8192; ny = nx
// launch: jacobi_5pt_shared<<<({ceil(nx, 32)},{ceil(ny, 8)}), (32,8)>>>(u: f32[{nx * ny}], f: f32[{nx * ny}], u_new: f32[{nx * ny}] uninit, nx: i32 = {nx}, ny: i32 = {ny}, h2: f32 = 0.0001)
// sweep: n = 64 200 400 512; bx = 32; by = 4; bz = 2
// sweep: n = 64 256; bx = 8; by = 8; bz = 8
// launch: heat_7pt<<<({ceil(n, bx)},{ceil(n, by)},{ceil(n, bz)}), ({bx},{by},{bz})>>>(t: f32[{n * n * n}], out: f32[{n * n * n}] uninit, nx: i32 = {n}, ny: i32 = {n}, nz: i32 = {n}, k: f32 = 0.1)
// sweep: n = 2^16 1000000 2^24 2^27; block = 256
// sweep: n = 2^24; block = 128 512
// launch: conv1d_radius8<<<{ceil(n, block)}, {block}, {4 * (block + 16)}>>>(in: f32[{n}], out: f32[{n}] uninit, n: i32 = {n})
// sweep: width = 640; height = 480; block = 128
// sweep: width = 1920; height = 1080; block = 64 128
// sweep: width = 4096 8192; height = width; block = 256
// launch: blur_rows<<<({ceil(width, block)},{height}), {block}>>>(src: f32[{width * height}], dst: f32[{width * height}] uninit, width: i32 = {width}, height: i32 = {height})
// sweep: width = 640 1920 4096 8192; height = width*3/4
// launch: blur_columns<<<({ceil(width, 32)},{ceil(height, 64)}), (32,8)>>>(src: f32[{width * height}], dst: f32[{width * height}] uninit, width: i32 = {width}, height: i32 = {height})
// sweep: width = 512 2048 8192; height = width; block = 128
// sweep: width = 2048; height = 1000; block = 32 1024
// launch: life_step<<<{min(ceil(width * height, block), 32768)}, {block}>>>(cells: u8[{width * height}], next: u8[{width * height}] uninit, width: u32 = {width}, height: u32 = {height})
// sweep: width = 512 1920 4096 10000; height = width
// launch: sobel_u8<<<({ceil(width, 16)},{ceil(height, 16)}), (16,16)>>>(image: u8[{width * height}], edges: u8[{width * height}] uninit, width: i32 = {width}, height: i32 = {height})
// sweep: nx = 256 1024 4096 6000; ny = nx; block = 256
// launch: wave_step_double<<<{min(ceil(nx * ny, block), 132 * 8)}, {block}>>>(u: f64[{nx * ny}], prev: f64[{nx * ny}], nx: u64 = {nx}, ny: u64 = {ny}, c2: f64 = 0.01)
#define BX 32
#define BY 8
#define RADIUS 8

extern "C" __global__ void jacobi_5pt(const float* u, float* u_new, int nx, int ny) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1) {
        u_new[j * nx + i] = 0.25f * (u[j * nx + i - 1] + u[j * nx + i + 1] + u[(j - 1) * nx + i] + u[(j + 1) * nx + i]);
    }
}

// The block's cells and a frame around them.
extern "C" __global__ void jacobi_5pt_shared(const float* __restrict__ u, const float* __restrict__ f,
                                             float* __restrict__ u_new, int nx, int ny, float h2) {
    __shared__ float tile[BY + 2][BX + 2];
    const int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    const size_t at = (size_t)y * nx + x;
    if (x < nx && y < ny) {
        tile[ty][tx] = u[at];
        if (tx == 1 && x > 0) tile[ty][0] = u[at - 1];
        if (tx == BX && x + 1 < nx) tile[ty][BX + 1] = u[at + 1];
        if (ty == 1 && y > 0) tile[0][tx] = u[at - nx];
        if (ty == BY && y + 1 < ny) tile[BY + 1][tx] = u[at + nx];
    }
    __syncthreads();
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
    const float around = tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx];
    u_new[at] = 0.25f * (around - h2 * f[at]);
}

#define IDX(i, j, k) ((i) + nx * ((j) + ny * (k)))
extern "C" __global__ void heat_7pt(const float* t, float* out, int nx, int ny, int nz, float k) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= nx || y >= ny || z >= nz) return;
    float c = t[IDX(x, y, z)];
    if (x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1) {
        out[IDX(x, y, z)] = c;
        return;
    }
    float sum = t[IDX(x - 1, y, z)] + t[IDX(x + 1, y, z)] + t[IDX(x, y - 1, z)] + t[IDX(x, y + 1, z)] +
                t[IDX(x, y, z - 1)] + t[IDX(x, y, z + 1)];
    out[IDX(x, y, z)] = c + k * (sum - 6.0f * c);
}

__constant__ float taps[2 * RADIUS + 1] = {0.001f, 0.003f, 0.009f, 0.022f, 0.045f, 0.078f, 0.114f, 0.142f, 0.172f,
                                           0.142f, 0.114f, 0.078f, 0.045f, 0.022f, 0.009f, 0.003f, 0.001f};
extern "C" __global__ void conv1d_radius8(const float* in, float* out, int n) {
    extern __shared__ float line[];
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    int l = threadIdx.x + RADIUS;
    line[l] = g < n ? in[g] : 0.0f;
    if (threadIdx.x < RADIUS) {
        line[l - RADIUS] = g >= RADIUS && g - RADIUS < n ? in[g - RADIUS] : 0.0f;
        line[l + blockDim.x] = g + blockDim.x < n ? in[g + blockDim.x] : 0.0f;
    }
    __syncthreads();
    if (g >= n) return;
    float sum = 0.0f;
#pragma unroll
    for (int o = -RADIUS; o <= RADIUS; o++) sum += line[l + o] * taps[o + RADIUS];
    out[g] = sum;
}

__constant__ float gauss[9] = {0.028f, 0.066f, 0.124f, 0.180f, 0.204f, 0.180f, 0.124f, 0.066f, 0.028f};
extern "C" __global__ void blur_rows(const float* __restrict__ src, float* __restrict__ dst, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= width || y >= height) return;
    const float* row = src + (size_t)y * width;
    float sum = 0.0f;
    for (int k = -4; k <= 4; k++) {
        int c = x + k;
        if (c < 0) c = 0;
        if (c > width - 1) c = width - 1;
        sum += gauss[k + 4] * __ldg(row + c);
    }
    dst[(size_t)y * width + x] = sum;
}
// A tile of 64 rows with four more above and below.
extern "C" __global__ void blur_columns(const float* src, float* dst, int width, int height) {
    __shared__ float tile[64 + 8][32];
    int x = blockIdx.x * 32 + threadIdx.x, top = blockIdx.y * 64;
    for (int r = threadIdx.y; r < 64 + 8; r += 8) {
        int y = min(max(top + r - 4, 0), height - 1);
        tile[r][threadIdx.x] = x < width ? src[(size_t)y * width + x] : 0.0f;
    }
    __syncthreads();
    for (int r = threadIdx.y; r < 64 && top + r < height && x < width; r += 8) {
        float sum = 0.0f;
#pragma unroll
        for (int k = 0; k < 9; k++) sum += gauss[k] * tile[r + k][threadIdx.x];
        dst[(size_t)(top + r) * width + x] = sum;
    }
}

extern "C" __global__ void life_step(const unsigned char* cells, unsigned char* next, unsigned width, unsigned height) {
    unsigned size = width * height;
    for (unsigned cell = blockIdx.x * blockDim.x + threadIdx.x; cell < size; cell += blockDim.x * gridDim.x) {
        unsigned x = cell % width, y = cell - x;
        unsigned left = (x + width - 1) % width, right = (x + 1) % width;
        unsigned up = (y + size - width) % size, down = (y + width) % size;
        unsigned alive = cells[left + up] + cells[x + up] + cells[right + up] + cells[left + y] + cells[right + y] +
                         cells[left + down] + cells[x + down] + cells[right + down];
        next[x + y] = alive == 3 || (alive == 2 && cells[x + y]) ? 1 : 0;
    }
}

extern "C" __global__ void sobel_u8(const unsigned char* image, unsigned char* edges, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const int sx[3][3] = {{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}}, sy[3][3] = {{-1, -2, -1}, {0, 0, 0}, {1, 2, 1}};
    float gx = 0, gy = 0;
    for (int r = -1; r <= 1; r++) {
        for (int c = -1; c <= 1; c++) {
            int yy = min(max(y + r, 0), height - 1), xx = min(max(x + c, 0), width - 1);
            int pixel = image[yy * width + xx];
            gx += pixel * sx[r + 1][c + 1];
            gy += pixel * sy[r + 1][c + 1];
        }
    }
    float magnitude = sqrtf(gx * gx + gy * gy);
    edges[y * width + x] = magnitude > 255.0f ? 255 : (unsigned char)magnitude;
}

// Of fourth order in space. The step before the last is replaced by the next one.
extern "C" __global__ void wave_step_double(const double* __restrict__ u, double* __restrict__ prev, size_t nx,
                                            size_t ny, double c2) {
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < nx * ny; i += (size_t)gridDim.x * blockDim.x) {
        size_t x = i % nx, y = i / nx;
        if (x < 2 || y < 2 || x >= nx - 2 || y >= ny - 2) continue;
        double near = u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx];
        double far = u[i - 2] + u[i + 2] + u[i - 2 * nx] + u[i + 2 * nx];
        double laplacian = 4.0 / 3.0 * near - far / 12.0 - 5.0 * u[i];
        prev[i] = 2.0 * u[i] - prev[i] + c2 * laplacian;
    }
}
