// Initialised, constant, packed and address-holding variables, and local arrays.
struct Node {
    const Node *next;
    float weight;
};
struct __attribute__((packed)) Packed {
    char tag;
    int *where;
};

__device__ int counter = 7;
__device__ double grid[2][3] = {{1.0, -2.5}, {3.0}};
__device__ Packed packed = {1, &counter};

__device__ Node second = {nullptr, 2.5f};
__device__ Node first = {&second, 1.5f};

__constant__ unsigned short codes[] = {1, 2, 65535};
__device__ int numbers[4] = {1, 2, 3, 4};
__device__ int *middle = &numbers[2];

extern "C" __global__ void variables(float *out, int n) {
    int local[8];
    for (int i = 0; i < 8; i++) local[i] = codes[i % 3] * n;
    out[0] = first.next->weight + float(grid[n & 1][n % 3]) + local[n & 7] + *packed.where + middle[-1];
}
