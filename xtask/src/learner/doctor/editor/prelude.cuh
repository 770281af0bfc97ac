// What NVRTC knows without an #include, for clangd: written by `cargo xtask doctor --editor`, and read before each kernel.
#pragma once

// NVIDIA's headers then declare what they declare for NVRTC, and include nothing of the host's.
#define __CUDACC__
#define __CUDACC_RTC__

typedef decltype(sizeof(0)) size_t;
typedef decltype((char*)0 - (char*)0) ptrdiff_t;

#include <cuda_runtime.h>

extern "C" __device__ int printf(const char* format, ...);
#define assert(condition) ((void)(condition))
