// A producer that counts itself and one consumer, and two consumers that count all three.
// fail: E-BARRIER-ROUNDS
// launch: roles<<<1, 128>>>(y: i32[128] zero)
extern "C" __global__ void roles(int* y) {
    if (threadIdx.x < 32) asm volatile("bar.arrive 1, 64;" ::: "memory");
    else if (threadIdx.x < 96) asm volatile("bar.sync 1, 96;" ::: "memory");
    y[threadIdx.x] = 1;
}
