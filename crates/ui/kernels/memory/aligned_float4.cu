// The row begins four floats into the buffer.
// pass
// near: memory/misaligned_float4
// launch: scale<<<1, 16>>>(x: f32[68], row: x+16, y: f32[64] uninit)
extern "C" __global__ void scale(const float* x, const float* row, float* y) {
    float4 v = reinterpret_cast<const float4*>(row)[threadIdx.x];
    float first = x[0];
    reinterpret_cast<float4*>(y)[threadIdx.x] = make_float4(v.x + first, v.y, v.z, v.w);
}
