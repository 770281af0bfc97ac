// The next item is put into the shared slot while slow threads still read this one.
// fail: E-RACE-SHARED
// launch: work<<<2, 64>>>(head: i32[1] zero, x: f32[640], y: f32[640] zero, items: i32 = 10)
extern "C" __global__ void work(int* head, const float* x, float* y, int items) {
    __shared__ int item;
    while (true) {
        if (threadIdx.x == 0) item = atomicAdd(head, 1);
        __syncthreads();
        int mine = item;
        if (mine >= items) return;
        y[64 * mine + threadIdx.x] = 2.0f * x[64 * mine + threadIdx.x];
    }
}
