// A kernel of your own: `cargo xtask play FILE.cu` compiles it, runs it and shows what it did.
// The lines that begin with `play:` say on what it runs. Change them, and change the kernel.
//
// play: n = 1000
// play: x = f32[n] ramp
// play: y = f32[n], print 8
// play: scale<<<(n + 255) / 256, 256>>>(x, y, 3.0, n)

// Multiplies each of the n elements of x by a.
__global__ void scale(const float* x, float* y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = a * x[i];
    }
    if (i == 0) {
        printf("block %d has %d threads\n", blockIdx.x, blockDim.x);
    }
}
