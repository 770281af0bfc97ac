//! The pinned wheels of each platform, with the SHA-256 that PyPI publishes for them.
//!
//! `nvidia-cuda-nvrtc` is the compiler. The headers come from three wheels: `nvidia-cuda-runtime` has `cuda_fp16.h`,
//! `cuda_bf16.h`, `cuda_fp8.h` and `cooperative_groups.h`; the last of these includes `nv/target` from
//! `nvidia-cuda-cccl`, which also has `cuda/std` and CUB; and `mma.h` needs `nvidia-cuda-crt`.

/// The release that the cache's directory is named after.
pub(crate) const RELEASE: &str = "13.0.88";

/// One wheel of the pinned set.
#[derive(Debug)]
pub(crate) struct Wheel {
    pub(crate) package: &'static str,
    pub(crate) version: &'static str,
    /// Of the file, in bytes; for the progress bar.
    pub(crate) size: u64,
    pub(crate) sha256: &'static str,
}

impl Wheel {
    /// The line of pip's requirements file.
    pub(crate) fn requirement(&self) -> String {
        format!("{}=={} --hash=sha256:{}\n", self.package, self.version, self.sha256)
    }

    /// How the wheel's file name begins (PEP 427: the package's `-` become `_`).
    pub(crate) fn file_prefix(&self) -> String {
        format!("{}-{}-", self.package.replace('-', "_"), self.version)
    }
}

/// pip's names for this platform. They are given explicitly because pip would choose by its own Python, which may be
/// built for another processor than this program.
pub(crate) const PLATFORMS: &[&str] = if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
    &["manylinux2014_x86_64", "manylinux2010_x86_64"]
} else if cfg!(all(target_os = "linux", target_arch = "aarch64")) {
    &["manylinux2014_aarch64"]
} else if cfg!(all(target_os = "windows", target_arch = "x86_64")) {
    &["win_amd64"]
} else {
    &[]
};

/// The wheels of this platform; empty where NVIDIA publishes none.
pub(crate) const PINNED: &[Wheel] = if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
    LINUX_X86_64
} else if cfg!(all(target_os = "linux", target_arch = "aarch64")) {
    LINUX_AARCH64
} else if cfg!(all(target_os = "windows", target_arch = "x86_64")) {
    WINDOWS_X86_64
} else {
    &[]
};

const fn wheel(package: &'static str, version: &'static str, size: u64, sha256: &'static str) -> Wheel {
    Wheel { package, version, size, sha256 }
}

#[rustfmt::skip]
const LINUX_X86_64: &[Wheel] = &[
    wheel("nvidia-cuda-nvrtc", "13.0.88", 90_215_200, "ad9b6d2ead2435f11cbb6868809d2adeeee302e9bb94bcf0539c7a40d80e8575"),
    wheel("nvidia-cuda-runtime", "13.0.88", 2_243_181, "422a38f7c739ecbdd3a4b6ec7ed0a1d74db43d8e9bc26685f3d845638922b178"),
    wheel("nvidia-cuda-crt", "13.0.88", 134_086, "2c8043c7c9e02492716426e9919fc78d2c5b3b2a7a768a88e952676b08aa55a4"),
    wheel("nvidia-cuda-cccl", "13.0.85", 3_120_526, "e0da7ad981f3a8aff08241b5bfc1af868742a63e2762f53a5171c492ef242649"),
];

#[rustfmt::skip]
const LINUX_AARCH64: &[Wheel] = &[
    wheel("nvidia-cuda-nvrtc", "13.0.88", 43_015_449, "d27f20a0ca67a4bb34268a5e951033496c5b74870b868bacd046b1b8e0c3267b"),
    wheel("nvidia-cuda-runtime", "13.0.88", 2_259_852, "8ba16a33998ee3ee2bf11c8f13e36e3ff86a1d6ad165ffeee863d6eabd0b5f67"),
    wheel("nvidia-cuda-crt", "13.0.88", 134_086, "ee2ea2a97073e02ee62bb27841f437332be2c248e3eac013df07997ada39c003"),
    wheel("nvidia-cuda-cccl", "13.0.85", 3_120_528, "6f0203e29fed809ee2b7fe9b1344df66ecab990c37d6a2e0e189b26d6c97ed7c"),
];

#[rustfmt::skip]
const WINDOWS_X86_64: &[Wheel] = &[
    wheel("nvidia-cuda-nvrtc", "13.0.88", 76_807_835, "6bcd4e7f8e205cbe644f5a98f2f799bef9556fefc89dd786e79a16312ce49872"),
    wheel("nvidia-cuda-runtime", "13.0.88", 2_926_776, "0156cf8f3453025938aab80bcca909506f4e82f1584a17736df7edeba882cc02"),
    wheel("nvidia-cuda-crt", "13.0.88", 134_862, "31e02c52916804ca15e31f272a96181d8fadaf40c4c82a77a6f78071a22eccf3"),
    wheel("nvidia-cuda-cccl", "13.0.85", 3_120_508, "e160c6f031687b913fbe6e82e43f1788c3dd2a2a6378d3a8b15a31934b3ab285"),
];
