//! A GPU as its driver describes it, and the profile that it is nearest to.

use std::collections::BTreeMap;

use cudarc::driver::DriverError;
use cudarc::driver::sys::CUdevice_attribute as Attribute;
use fusion_device::Device;
use fusion_machine::Profile;
use serde::{Deserialize, Serialize};

/// What its driver says of a GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gpu {
    pub name: String,
    pub compute: (u32, u32),
    /// Numbers of a profile's device.
    pub numbers: BTreeMap<String, u64>,
}

/// Numbers of a profile that are attributes.
const ATTRIBUTES: [(&str, Attribute); 12] = [
    ("sms", Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
    ("max_threads_per_sm", Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
    ("max_blocks_per_sm", Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR),
    ("registers_per_sm", Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR),
    ("shared_per_sm", Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
    ("shared_per_block_optin", Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
    ("shared_reserved", Attribute::CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK),
    ("l2_bytes", Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE),
    ("memory_bus_bits", Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH),
    ("memory_clock_khz", Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE),
    ("sm_clock_khz", Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
    ("copy_engines", Attribute::CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT),
];

impl Gpu {
    /// # Errors
    /// When the driver does not say it.
    pub fn of(device: &Device) -> Result<Self, DriverError> {
        let properties = &device.properties;
        let mut numbers = BTreeMap::from([("memory_bytes".to_owned(), properties.memory_bytes)]);
        for (name, attribute) in ATTRIBUTES {
            numbers.insert(name.to_owned(), u64::try_from(device.context.attribute(attribute)?).unwrap_or(0));
        }
        Ok(Self { name: properties.name.clone(), compute: properties.compute_capability, numbers })
    }

    /// The profile of this product, or of the newest generation that is not newer.
    pub fn nearest(&self) -> Profile {
        let mut profiles = Profile::all().iter();
        let of_product = profiles.clone().find(|profile| self.is(profile));
        // Of those of a generation the first.
        let older =
            || profiles.by_ref().rev().filter(|profile| profile.compute <= self.compute).max_by_key(|it| it.compute);
        of_product.or_else(older).cloned().unwrap_or_default()
    }

    /// Takes over what the driver says, where a profile is another product's. What goes with bandwidth or with the number of
    /// multiprocessors is as much more as they are.
    pub fn describe(&self, profile: &mut Profile) {
        if self.is(profile) {
            return;
        }
        let (sms, peak) = (f64::from(profile.sms), profile.peak_bandwidth());
        profile.name = format!("Emulated {}", self.name.trim_start_matches("NVIDIA "));
        profile.compute = self.compute;
        profile.sources.described.insert("driver".to_owned(), "what the GPU's driver says".to_owned());
        let assumed = format!("driver: as much more than of the {} as {{}} is", profile.id);
        for (name, value) in &self.numbers {
            profile.set_number(name, *value as f64, "driver");
        }
        let (sms, peak) = (f64::from(profile.sms) / sms, profile.peak_bandwidth() / peak);
        profile.rates.sms = profile.sms;
        profile.rates.clock_ghz = f64::from(profile.sm_clock_khz) / 1e6;
        let (by_memory, by_sms) = (assumed.replace("{}", "its memory"), assumed.replace("{}", "the number of SMs"));
        profile.set_number("dram_bandwidth", profile.dram_bandwidth * peak, &by_memory);
        profile.set_rate("dram_bytes_per_clock", profile.rates.dram_bytes_per_clock * peak, &by_memory);
        profile.set_number("tensor_flops", profile.tensor_flops * sms, &by_sms);
        profile.set_number("l2_bandwidth", profile.l2_bandwidth * sms, &by_sms);
        profile.set_rate("l2_bytes_per_clock", profile.rates.l2_bytes_per_clock * sms, &by_sms);
        profile.set_rate("l2_store_bytes_per_clock", profile.rates.l2_store_bytes_per_clock * sms, &by_sms);
    }

    /// Whether the profile is of this product.
    pub fn is(&self, profile: &Profile) -> bool {
        // Its memory may follow, as in `NVIDIA H100 80GB HBM3`. With anything else it is another product: `H100 PCIe`,
        // `RTX 4090 Laptop GPU`.
        let is_memory = |word: &str| {
            word.starts_with("HBM") || word.strip_suffix("GB").is_some_and(|bytes| bytes.parse::<u32>().is_ok())
        };
        self.name.split_once(profile.product()).is_some_and(|(_, rest)| rest.split_whitespace().all(is_memory))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gpu(name: &str, compute: (u32, u32)) -> Gpu {
        let numbers =
            [("sms", 82), ("memory_clock_khz", 9_751_000), ("memory_bus_bits", 384), ("shared_reserved", 1024)];
        Gpu { name: name.to_owned(), compute, numbers: numbers.map(|(name, value)| (name.to_owned(), value)).into() }
    }

    #[test]
    fn a_gpu_is_like_one_of_its_generation() {
        assert_eq!(gpu("NVIDIA H200", (9, 0)).nearest().id, "h200");
        assert_eq!(gpu("NVIDIA H100 80GB HBM3", (9, 0)).nearest().id, "h100");
        assert_eq!(gpu("NVIDIA GeForce RTX 4090", (8, 9)).nearest().id, "rtx4090");
        assert_eq!(gpu("NVIDIA GeForce RTX 3090", (8, 6)).nearest().id, "rtx3070");
        assert_eq!(gpu("NVIDIA B200", (10, 0)).nearest().id, "h200");
    }

    #[test]
    fn a_smaller_gpu_of_a_similar_name_is_another_product() {
        let is = |name, id| gpu(name, (9, 0)).is(Profile::named(id).unwrap());
        assert!(is("NVIDIA H100 80GB HBM3", "h100") && is("NVIDIA GeForce RTX 4090", "rtx4090"));
        assert!(!is("NVIDIA H100 PCIe", "h100") && !is("NVIDIA H100 80GB HBM3 MIG 1g.10gb", "h100"));
        assert!(!is("NVIDIA GeForce RTX 4090 Laptop GPU", "rtx4090") && !is("NVIDIA A100-SXM4-40GB", "a100"));
    }

    #[test]
    fn another_product_has_what_its_driver_says() {
        let gpu = gpu("NVIDIA GeForce RTX 3090", (8, 6));
        let mut profile = gpu.nearest();
        profile.stand_alone();
        gpu.describe(&mut profile);
        assert_eq!((profile.sms, profile.rates.sms, profile.name.as_str()), (82, 82, "Emulated GeForce RTX 3090"));
        assert!((820e9..830e9).contains(&profile.dram_bandwidth), "{}", profile.dram_bandwidth);
        assert_eq!(Profile::parse(&profile.text()), Ok(profile));
    }
}
