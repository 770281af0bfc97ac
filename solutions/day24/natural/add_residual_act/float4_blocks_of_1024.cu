// A float4 per thread in blocks of 1,024, and the tail by thread 0.
__device__ float activate(float t, int act) {
    if (act == 0) {
        return fmaxf(t, 0.0f);
    }
    if (act == 1) {
        return 0.5f * t * (1.0f + tanhf(0.7978845608f * (t + 0.044715f * t * t * t)));
    }
    return t / (1.0f + expf(-t));
}

extern "C" __global__ void add_residual_act(const float* x, const float* residual, float* out, int act, size_t n) {
    size_t v = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n / 4) {
        float4 p = ((const float4*)x)[v];
        float4 q = ((const float4*)residual)[v];
        ((float4*)out)[v] = make_float4(activate(p.x + q.x, act), activate(p.y + q.y, act), activate(p.z + q.z, act), activate(p.w + q.w, act));
    }
    if (v == 0) {
        for (size_t i = n / 4 * 4; i < n; i++) {
            out[i] = activate(x[i] + residual[i], act);
        }
    }
}
