// Images of bytes, rays, and whole numbers bit by bit.
// by others
// sweep: width = 640; height = 480; block = 256
// sweep: width = 1920; height = 1080; block = 128 512
// sweep: width = 4096 8000; height = width; block = 256
// launch: rgb_to_grey<<<{ceil(width * height, block)}, {block}>>>(rgb: u8[{3 * width * height}], grey: u8[{width * height}] uninit, pixels: i32 = {width * height})
// sweep: width = 320 1920 8000; height = width/2; to = 500 2000; bx = 16; by = 16
// launch: resize_bilinear<<<({ceil(to, bx)},{ceil(to, by)}), ({bx},{by})>>>(src: u8[{3 * width * height}], dst: u8[{3 * to * to}] uninit, sw: i32 = {width}, sh: i32 = {height}, dw: i32 = {to}, dh: i32 = {to})
// sweep: width = 128 600 2048; spheres = 8 100; bx = 8; by = 8
// sweep: width = 600; spheres = 100; bx = 32; by = 8
// launch: ray_spheres<<<({ceil(width, bx)},{ceil(width, by)}), ({bx},{by})>>>(spheres: f32[{4 * spheres}], depth: f32[{width * width}] uninit, count: i32 = {spheres}, width: i32 = {width}, height: i32 = {width})
// sweep: n = 2^16 1000000 2^24 2^27; block = 256
// launch: bit_tricks<<<{ceil(n, block)}, {block}>>>(x: u32[{n}], y: u32[{n}] uninit, n: u32 = {n})
// sweep: n = 2^16 2^20 2^24 2^26; base = 10; block = 256
// sweep: n = 2^22; base = 2; block = 64 512
// launch: digit_sums<<<{ceil(n, block)}, {block}>>>(x: u32[{n}], sums: u32[{n}] uninit, base: u32 = {base}, n: u32 = {n})
// sweep: n = 2^13 2^17 2^20; exponent = 17 65537; block = 128
// launch: modular_power<<<{ceil(n, block)}, {block}>>>(x: u64[{n}], y: u64[{n}] uninit, exponent: u64 = {exponent}, modulus: u64 = 4294967291, n: i32 = {n})
// sweep: chunks = 2^13 2^17 2^20; length = 64; block = 128
// sweep: chunks = 2^15; length = 1024; block = 64 256
// launch: crc32_chunks<<<{ceil(chunks, block)}, {block}>>>(data: u8[{chunks * length}], crcs: u32[{chunks}] uninit, length: i32 = {length}, chunks: i32 = {chunks})

extern "C" __global__ void rgb_to_grey(const uchar3* rgb, unsigned char* grey, int pixels) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pixels) return;
    uchar3 p = rgb[i];
    grey[i] = (unsigned char)(0.299f * p.x + 0.587f * p.y + 0.114f * p.z);
}

extern "C" __global__ void resize_bilinear(const unsigned char* src, unsigned char* dst, int sw, int sh, int dw,
                                           int dh) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= dw || y >= dh) return;
    float fx = fmaxf((x + 0.5f) * sw / dw - 0.5f, 0.0f), fy = fmaxf((y + 0.5f) * sh / dh - 0.5f, 0.0f);
    int x0 = min((int)floorf(fx), sw - 1), y0 = min((int)floorf(fy), sh - 1);
    int x1 = min(x0 + 1, sw - 1), y1 = min(y0 + 1, sh - 1);
    float ax = fx - x0, ay = fy - y0;
    for (int c = 0; c < 3; c++) {
        float top = (1.0f - ax) * src[(y0 * sw + x0) * 3 + c] + ax * src[(y0 * sw + x1) * 3 + c];
        float bottom = (1.0f - ax) * src[(y1 * sw + x0) * 3 + c] + ax * src[(y1 * sw + x1) * 3 + c];
        dst[(y * dw + x) * 3 + c] = (unsigned char)fminf(fmaxf((1.0f - ay) * top + ay * bottom + 0.5f, 0.0f), 255.0f);
    }
}

struct Ray {
    float3 origin, direction;
};
__device__ float dot(float3 a, float3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
__device__ bool hits(const Ray& ray, float4 sphere, float& t) {
    float3 oc = make_float3(ray.origin.x - sphere.x, ray.origin.y - sphere.y, ray.origin.z - sphere.z);
    float b = dot(oc, ray.direction), c = dot(oc, oc) - sphere.w * sphere.w * 0.05f;
    float discriminant = b * b - c;
    if (discriminant < 0.0f) return false;
    t = -b - sqrtf(discriminant);
    return t > 1e-3f;
}
extern "C" __global__ void ray_spheres(const float4* spheres, float* depth, int count, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    Ray ray;
    ray.origin = make_float3(0.0f, 0.0f, -6.0f);
    float u = (2.0f * x - width) / height, v = (2.0f * y - height) / height;
    float inverse = rsqrtf(u * u + v * v + 1.0f);
    ray.direction = make_float3(u * inverse, v * inverse, inverse);
    float nearest = 1e30f;
    for (int s = 0; s < count; s++) {
        float t;
        if (hits(ray, spheres[s], t) && t < nearest) nearest = t;
    }
    depth[y * width + x] = nearest;
}

extern "C" __global__ void bit_tricks(const unsigned int* x, unsigned int* y, unsigned int n) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned int v = x[i] * 0x9e3779b9u ^ i;
    unsigned int ones = __popc(v), zeros = __clz(v), first = __ffs(v);
    unsigned int grey = v ^ (v >> 1);
    // The next power of two.
    unsigned int p = v - 1;
    p |= p >> 1;
    p |= p >> 2;
    p |= p >> 4;
    p |= p >> 8;
    p |= p >> 16;
    p++;
    // The bits of 16 positions with gaps in between.
    unsigned int m = v & 0xffff;
    m = (m | m << 8) & 0x00ff00ff;
    m = (m | m << 4) & 0x0f0f0f0f;
    m = (m | m << 2) & 0x33333333;
    m = (m | m << 1) & 0x55555555;
    y[i] = (__brev(grey) ^ __byte_perm(p, m, 0x3175)) + (ones << 16) + (zeros << 8) + first;
}

// How many divisions there are depends on the base, which is known only when it runs.
extern "C" __global__ void digit_sums(const unsigned* x, unsigned* sums, unsigned base, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = (x[i] + i) * 2654435761u, sum = 0;
    while (v > 0) {
        sum += v % base;
        v /= base;
    }
    sums[i] = sum;
}

typedef unsigned long long u64;
extern "C" __global__ void modular_power(const u64* x, u64* y, u64 exponent, u64 modulus, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u64 base = (x[i] + 2) % modulus, result = 1;
    while (exponent) {
        if (exponent & 1) result = result * base % modulus;
        base = base * base % modulus;
        exponent >>= 1;
    }
    y[i] = result;
}

extern "C" __global__ void crc32_chunks(const unsigned char* data, unsigned* crcs, int length, int chunks) {
    __shared__ unsigned table[256];
    for (int e = threadIdx.x; e < 256; e += blockDim.x) {
        unsigned c = e;
        for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
        table[e] = c;
    }
    __syncthreads();
    int chunk = blockIdx.x * blockDim.x + threadIdx.x;
    if (chunk >= chunks) return;
    const unsigned char* p = data + (size_t)chunk * length;
    unsigned crc = 0xffffffffu;
    while (length--) crc = table[(crc ^ *p++) & 0xff] ^ (crc >> 8);
    crcs[chunk] = crc ^ 0xffffffffu;
}
