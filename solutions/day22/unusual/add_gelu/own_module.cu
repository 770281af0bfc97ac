// The kernel is PTX in the launch file; what is compiled from here is not used.
__device__ int unused;
