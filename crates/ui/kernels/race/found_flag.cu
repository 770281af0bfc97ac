// Every thread that finds a number above 20 sets the same flag to the same value.
// fail: W-RACE-BENIGN
// launch: any_large<<<1, 64>>>(x: f32[64], out: i32[1] uninit)
extern "C" __global__ void any_large(const float* x, int* out) {
    __shared__ int found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    if (x[threadIdx.x] > 20.0f) found = 1;
    __syncthreads();
    if (threadIdx.x == 0) *out = found;
}
