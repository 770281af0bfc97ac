// An element per thread, and each of them asks which activation it is.
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
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = activate(x[i] + residual[i], act);
    }
}
