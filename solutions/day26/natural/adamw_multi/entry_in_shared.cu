// Thread 0 looks up the chunk, and the others find its tensor in shared memory. Numbers are hats, as in the paper, and some are double.
struct Tensor {
    float *p, *g, *m, *v;
    size_t count;
};

extern "C" __global__ void adamw_multi(const Tensor* tensors, const int* chunks, float lr, float beta1, float beta2,
                                       float epsilon, float weight_decay, float correction1, float correction2) {
    __shared__ Tensor tensor;
    __shared__ size_t begin;
    if (threadIdx.x == 0) {
        tensor = tensors[chunks[2 * blockIdx.x]];
        begin = 4096 * (size_t)chunks[2 * blockIdx.x + 1];
    }
    __syncthreads();
    for (int k = 0; k < 4096; k += blockDim.x) {
        size_t i = begin + k + threadIdx.x;
        if (i >= tensor.count) return;
        tensor.m[i] = beta1 * tensor.m[i] + (1.0 - beta1) * tensor.g[i];
        tensor.v[i] = beta2 * tensor.v[i] + (1.0 - beta2) * tensor.g[i] * tensor.g[i];
        float m_hat = tensor.m[i] / correction1;
        float v_hat = tensor.v[i] / correction2;
        tensor.p[i] = tensor.p[i] - lr * weight_decay * tensor.p[i];
        tensor.p[i] = tensor.p[i] - lr * m_hat / (sqrt(v_hat) + epsilon);
    }
}
