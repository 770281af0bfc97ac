// Tabs and characters that are two columns wide stand before the mistake.
// fail: E-OOB-GLOBAL
// launch: scale<<<1, 128>>>(x: f32[128], y: f32[128] uninit)
extern "C" __global__ void scale(const float* x, float* y) {
	int i = threadIdx.x;
	/* 缩放 每个元素 */	y[i] = 2.0f * x[i + 1];	// 越界 🚀 é
}
