// Shared memory, shuffles, barriers, vectors and launch bounds.
extern __shared__ float staged[];

extern "C" __global__ void __launch_bounds__(256, 2) softmax(const float4 *in, float4 *out, int columns) {
    __shared__ float partial[2][8];
    float best = -__int_as_float(0x7f800000), sum = 0.0f;
    for (int c = threadIdx.x; c < columns / 4; c += blockDim.x) {
        float4 v = __ldg(&in[blockIdx.x * (columns / 4) + c]);
        reinterpret_cast<float4 *>(staged)[c] = v;
        best = fmaxf(best, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
    }
    for (int step = 16; step > 0; step /= 2) best = fmaxf(best, __shfl_xor_sync(0xffffffff, best, step));
    if (threadIdx.x % 32 == 0) partial[0][threadIdx.x / 32] = best;
    __syncthreads();
    for (int w = 0; w < blockDim.x / 32; w++) best = fmaxf(best, partial[0][w]);
    for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += __expf(staged[c] - best);
    sum += __shfl_down_sync(0xffffffff, sum, 1, 8);
    unsigned votes = __ballot_sync(0xffffffff, sum > 1.0f);
    if (__any_sync(0xffffffff, votes == 0) || __syncthreads_or(sum > 2.0f)) sum += __popc(votes);
    out[blockIdx.x] = make_float4(sum, best, 1.0f / sum, rsqrtf(sum));
}
