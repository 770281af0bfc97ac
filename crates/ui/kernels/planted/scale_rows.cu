// fail: E-MISALIGNED
// launch: scale_rows<<<3, 64>>>(x: f32[390], y: f32[390] uninit, columns: i32 = 130)
// Doubles rows of 130 elements, four at a time with the rest one by one.
extern "C" __global__ void scale_rows(const float* x, float* y, int columns) {
    const float* row = x + blockIdx.x * columns;
    float* out = y + blockIdx.x * columns;
    int vectors = columns / 4;
    for (int v = threadIdx.x; v < vectors; v += blockDim.x) {
        float4 value = reinterpret_cast<const float4*>(row)[v];
        reinterpret_cast<float4*>(out)[v] =
            make_float4(2.0f * value.x, 2.0f * value.y, 2.0f * value.z, 2.0f * value.w);
    }
    for (int c = 4 * vectors + threadIdx.x; c < columns; c += blockDim.x) out[c] = 2.0f * row[c];
}
