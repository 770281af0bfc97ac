// Persistent blocks take items from a queue with an atomic, and hand the item to all their threads.
// pass
// near: race/queue_plain
// launch: work<<<4, 32>>>(head: i32[1] zero, x: f32[320], y: f32[320] zero, items: i32 = 10)
extern "C" __global__ void work(int* head, const float* x, float* y, int items) {
    __shared__ int item;
    while (true) {
        if (threadIdx.x == 0) item = atomicAdd(head, 1);
        __syncthreads();
        int mine = item;
        __syncthreads();
        if (mine >= items) return;
        y[32 * mine + threadIdx.x] = 2.0f * x[32 * mine + threadIdx.x];
    }
}
