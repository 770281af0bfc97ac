// Every thread owns eight neighbouring slots: eight lanes want the same bank.
// fail: P-BANK-CONFLICT
// checks: performance
// launch: own<<<8, 64>>>(y: f32[512] uninit)
extern "C" __global__ void own(float* y) {
    __shared__ float slots[512];
    int t = threadIdx.x;
    for (int k = 0; k < 8; k++) slots[8 * t + k] = t * k;
    __syncthreads();
    y[blockIdx.x * 64 + t] = slots[t] + slots[448 + t];
}
