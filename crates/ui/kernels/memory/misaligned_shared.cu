// Dynamic shared memory holds a flag of one byte for each thread and then floats, without padding between the two.
// fail: E-MISALIGNED
// launch: keep<<<1, 30, 256>>>(x: f32[30], y: f32[30] uninit)
extern "C" __global__ void keep(const float* x, float* y) {
    extern __shared__ char memory[];
    char* flags = memory;
    float* values = reinterpret_cast<float*>(memory + blockDim.x);
    flags[threadIdx.x] = x[threadIdx.x] > 4.0f;
    values[threadIdx.x] = x[threadIdx.x];
    y[threadIdx.x] = flags[threadIdx.x] ? values[threadIdx.x] : 0.0f;
}
