// The ends by the first thread, and a float4 per thread between them.
extern "C" __global__ void scale_shift_offset(const float* x, float* out, float scale, float shift, size_t n) {
    size_t v = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t head = 0;
    while (head < n && (size_t)(x + head) % 16 != 0) {
        head++;
    }
    if ((size_t)(out + head) % 16 != 0) {
        for (size_t i = v; i < n; i += (size_t)gridDim.x * blockDim.x) {
            out[i] = x[i] * scale + shift;
        }
        return;
    }
    size_t vectors = (n - head) / 4;
    if (v < vectors) {
        float4 p = ((const float4*)(x + head))[v];
        p.x = p.x * scale + shift;
        p.y = p.y * scale + shift;
        p.z = p.z * scale + shift;
        p.w = p.w * scale + shift;
        ((float4*)(out + head))[v] = p;
    }
    if (v == 0) {
        for (size_t i = 0; i < head; i++) {
            out[i] = x[i] * scale + shift;
        }
        for (size_t i = head + 4 * vectors; i < n; i++) {
            out[i] = x[i] * scale + shift;
        }
    }
}
