// Two locks for one sum: no fence helps where threads hold different locks.
// fail: E-RACE-BLOCKS
// launch: add<<<4, 1>>>(lock: i32[2] zero, total: f32[1] zero)
extern "C" __global__ void add(int* lock, float* total) {
    int* mine = lock + blockIdx.x % 2;
    while (atomicCAS(mine, 0, 1) != 0) {}
    __threadfence();
    *total += 1.5f;
    __threadfence();
    atomicExch(mine, 0);
}
