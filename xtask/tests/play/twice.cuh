static __device__ float twice(float a) { return 2*a; }
