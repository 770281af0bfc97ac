//! The few host headers that kernels include out of habit. NVRTC has no host headers, and their device parts are either
//! built in or these few lines; without them a kernel that compiles with `nvcc` fails at its first line here.

const INTEGERS: &str = "\
#pragma once
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define INT8_MIN (-128)
#define INT8_MAX 127
#define UINT8_MAX 255
#define INT16_MIN (-32768)
#define INT16_MAX 32767
#define UINT16_MAX 65535
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define UINT32_MAX 4294967295u
";

const FLOATS: &str = "\
#pragma once
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define DBL_MAX 1.7976931348623158e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
";

const LIMITS: &str = "\
#pragma once
#define CHAR_BIT 8
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
";

const MATHS: &str = "\
#pragma once
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#define M_PI 3.14159265358979323846
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define M_2_SQRTPI 1.12837916709551257390
#define M_LOG2E 1.44269504088896340736
#define M_LN2 0.69314718055994530942
";

/// `printf`, `assert`, `size_t` and the like are built in.
const BUILT_IN: &str = "#pragma once\n";

pub(super) const HEADERS: &[(&str, &str)] = &[
    ("stdint.h", INTEGERS),
    ("cstdint", INTEGERS),
    ("float.h", FLOATS),
    ("cfloat", FLOATS),
    ("limits.h", LIMITS),
    ("climits", LIMITS),
    ("math.h", MATHS),
    ("cmath", MATHS),
    ("stdio.h", BUILT_IN),
    ("cstdio", BUILT_IN),
    ("stddef.h", BUILT_IN),
    ("cstddef", BUILT_IN),
    ("assert.h", BUILT_IN),
    ("cassert", BUILT_IN),
];
