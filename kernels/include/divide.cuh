// Division by a number that is the same for many dividends.
#pragma once

// ANCHOR: divide
// x / divisor for many x, rounded as the operator / rounds it, in three instructions instead of a dozen.
//
// The reciprocal is computed once. Its product with x is off by at most 1.5 units in the last place; fmaf
// computes the remainder that this guess leaves without rounding, and the remainder says how the guess must be
// corrected: Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor",
// IBM J. Res. Dev. 34 (1990). That the result is the rounded quotient for all 2^46 pairs of significands was checked
// by computing them on an H200; powers of two change nothing while nothing overflows or underflows.
struct Divisor {
    float value, reciprocal;
    bool ordinary;  // no intermediate result of `quotient` overflows or loses bits

    __device__ __forceinline__ explicit Divisor(float divisor)
        : value(divisor), reciprocal(1.0f / divisor), ordinary(divisor > 0x1p-60f && divisor < 0x1p+20f) {}

    // Whether quotient(x) + offset rounds to the same integer as x / divisor + offset, for every x: a quotient near 0
    // only decides together with an offset that is no tie, and a large one must not meet an offset that cancels it.
    __device__ __forceinline__ bool exact_with(float offset) const { return ordinary && fabsf(offset) < 0x1p+30f; }

    // For an ordinary divisor and |x| < 2^60 the rounded quotient, where that is at least 2^-30; nearer to 0 something
    // below 2^-29.
    __device__ __forceinline__ float quotient_of_small(float x) const {
        const float guess = x * reciprocal;
        const float remainder = fmaf(guess, -value, x);
        return fmaf(remainder, reciprocal, guess);
    }

    // The same for every x: a larger one, whose remainder may overflow, gives something above 2^39, or infinite or
    // NaN as x is.
    __device__ __forceinline__ float quotient(float x) const {
        return fabsf(x) < 0x1p+60f ? quotient_of_small(x) : x * reciprocal;
    }
};
// ANCHOR_END: divide
