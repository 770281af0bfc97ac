// Only odd threads take the branch with the barrier, and the even ones end. Since Volta a barrier waits for the threads
// that have not exited, and there is nothing behind it that the even ones do too early: no tool complains.
// pass
// near: sync/barrier_odd_threads
// launch: odd<<<1, 64>>>(x: f32[64], y: f32[64] zero)
extern "C" __global__ void odd(const float* x, float* y) {
    int t = threadIdx.x;
    if (t % 2) {
        y[t] = x[t];
        __syncthreads();
        y[t] += 1.0f;
    }
}
