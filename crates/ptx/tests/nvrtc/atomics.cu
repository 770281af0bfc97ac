// Atomics of several types, spaces and scopes, fences and volatile accesses.
__device__ unsigned int ticket;

extern "C" __global__ void atomics(int *i, unsigned *u, float *f, double *d, unsigned long long *l, volatile int *flag) {
    __shared__ int histogram[32];
    histogram[threadIdx.x % 32] = 0;
    __syncthreads();
    atomicAdd(&histogram[i[threadIdx.x] % 32], 1);
    atomicAdd(f, 1.5f);
    atomicAdd(d, 0.5);
    u[1] = atomicInc(&ticket, gridDim.x);
    i[2] = atomicMax(i + 3, -4) + atomicCAS(i + 4, 1, 2) + atomicExch(i + 5, 6);
    l[1] = atomicMin(l, 9ull) ^ atomicOr(l + 2, 5ull);
    atomicAdd_system(i + 7, 1);
    atomicAdd_block(i + 8, 1);
    __threadfence();
    flag[0] = 1;
    while (flag[1] == 0) __nanosleep(100);
    __threadfence_block();
    u[2] = __activemask() + __match_any_sync(0xffffffff, i[9]);
}
