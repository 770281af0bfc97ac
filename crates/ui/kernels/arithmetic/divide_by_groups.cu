// An index is divided by the number of channels in a group, of which there are none.
// fail: L-DIVIDE-BY-ZERO
// checks: arithmetic
// launch: groups<<<1, 32>>>(y: i32[32] uninit, channels: i32 = 16, groups: i32 = 32)
extern "C" __global__ void groups(int* y, int channels, int groups) {
    int per_group = channels / groups;
    y[threadIdx.x] = threadIdx.x / (unsigned)per_group;
}
