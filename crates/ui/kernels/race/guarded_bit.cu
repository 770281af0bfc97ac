// A bitmap: whose bit is set already does without the atomic.
// fail: W-RACE-IDIOM
// launch: visit<<<4, 32>>>(node: i32[128], visited: u32[8] zero)
extern "C" __global__ void visit(const int* node, unsigned* visited) {
    int n = node[blockIdx.x * 32 + threadIdx.x] & 255;
    unsigned bit = 1u << (n % 32);
    if (!(visited[n / 32] & bit)) atomicOr(&visited[n / 32], bit);
}
