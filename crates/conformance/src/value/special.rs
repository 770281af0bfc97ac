//! Values at which instructions change what they do, as bits.

/// Both zeros, the smallest and the largest subnormal and normal number, numbers around 1, halves that round to even, numbers around the
/// bounds of integers, infinities, and NaNs, of which one is signalling.
pub(super) const F32: [u64; 26] = [
    0x0000_0000,
    0x8000_0000,
    0x0000_0001,
    0x807f_ffff,
    0x007f_ffff,
    0x0080_0000,
    0x8080_0000,
    0x00ff_ffff,
    0x3f80_0000,
    0xbf80_0000,
    0x3f80_0001,
    0x3f7f_ffff,
    0x3f00_0000,
    0xbf00_0000,
    0x4020_0000,
    0x3fc0_0000,
    0x4b80_0001,
    0x4f00_0000,
    0xcf00_0000,
    0x5f00_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0xffa0_0001,
];

/// The same of f64, and numbers around the bounds of f32.
pub(super) const F64: [u64; 26] = [
    0x0000_0000_0000_0000,
    0x8000_0000_0000_0000,
    0x0000_0000_0000_0001,
    0x800f_ffff_ffff_ffff,
    0x0010_0000_0000_0000,
    0x001f_ffff_ffff_ffff,
    0x3ff0_0000_0000_0000,
    0xbff0_0000_0000_0000,
    0x3ff0_0000_0000_0001,
    0x3fef_ffff_ffff_ffff,
    0x3ff0_0000_1000_0000,
    0x3ff0_0000_3000_0000,
    0x3fe0_0000_0000_0000,
    0xc004_0000_0000_0000,
    0x3ff8_0000_0000_0000,
    0x41e0_0000_0000_0000,
    0xc3e0_0000_0000_0000,
    0x36a0_0000_0000_0000,
    0x3810_0000_0000_0000,
    0x47ef_ffff_f000_0000,
    0x7fef_ffff_ffff_ffff,
    0xffef_ffff_ffff_ffff,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    0xfff4_0000_0000_0001,
];

pub(super) const F16: [u64; 24] = [
    0x0000, 0x8000, 0x0001, 0x83ff, 0x03ff, 0x0400, 0x8400, 0x07ff, 0x3c00, 0xbc00, 0x3c01, 0x3bff, 0x3800, 0xb800,
    0x4100, 0x3e00, 0x6801, 0x77ff, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfd01,
];

pub(super) const BF16: [u64; 24] = [
    0x0000, 0x8000, 0x0001, 0x807f, 0x007f, 0x0080, 0x8080, 0x00ff, 0x3f80, 0xbf80, 0x3f81, 0x3f7f, 0x3f00, 0xbf00,
    0x4020, 0x3fc0, 0x4381, 0x4f00, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0xffa1,
];

pub(super) const BYTE: [u64; 12] = [0, 1, 2, 7, 8, 0x0f, 0x55, 0x7f, 0x80, 0x81, 0xfe, 0xff];

pub(super) const SHORT: [u64; 20] =
    [0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 0x00ff, 0x0100, 0x5555, 0x7fff, 0x8000, 0x8001, 0xaaaa, 0xff80, 0xffff];

/// The ends of ranges, counts around the width, and pairs of halves: f16, bf16 and s16.
pub(super) const WORD: [u64; 26] = [
    0,
    1,
    2,
    3,
    8,
    15,
    16,
    31,
    32,
    33,
    64,
    255,
    0xffff,
    0x0001_0000,
    0x00ff_ffff,
    0x3c00_bc00,
    0x3f80_bf80,
    0x7bff_0001,
    0x7e00_fc00,
    0x5555_5555,
    0x7fff_8000,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_fffe,
    0xffff_ffff,
];

pub(super) const DOUBLE: [u64; 24] = [
    0,
    1,
    2,
    3,
    31,
    32,
    33,
    63,
    64,
    65,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    0x0123_4567_89ab_cdef,
    0x5555_5555_5555_5555,
    0x7fff_ffff_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0x8000_0000_0000_0001,
    0xffff_ffff_0000_0000,
    0xffff_ffff_ffff_fffe,
    0xffff_ffff_ffff_ffff,
];
