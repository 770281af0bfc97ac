//! The GPU that the arithmetic is about: a profile, or the open device.

use fusion_device::Device;
use fusion_machine::Profile;
use fusion_machine::occupancy::{Limits, bytes_needed};

/// What the calculator needs to know of a GPU.
#[derive(Clone, Debug)]
pub(crate) struct Gpu {
    pub(crate) name: String,
    pub(crate) compute: (u32, u32),
    pub(crate) limits: Limits,
    pub(crate) sms: u32,
    /// What is known beyond the driver's attributes: of the profile of that product, if there is one.
    memory: Option<Memory>,
}

#[derive(Clone, Copy, Debug)]
struct Memory {
    /// Bytes per second that a copy reaches, and the latency of an idle memory.
    bandwidth: f64,
    latency_ns: f64,
    measured: Option<u32>,
}

impl Gpu {
    pub(crate) fn of_profile(profile: &Profile) -> Gpu {
        Gpu {
            name: profile.product().to_owned(),
            compute: profile.compute,
            limits: Limits::of(profile),
            sms: profile.sms,
            memory: Some(Memory::of(profile)),
        }
    }

    pub(crate) fn of_device(device: &Device) -> Gpu {
        let properties = &device.properties;
        let profile = Profile::all().iter().find(|profile| properties.name.ends_with(profile.product()));
        Gpu {
            name: properties.name.clone(),
            compute: properties.compute_capability,
            limits: properties.limits,
            sms: properties.multiprocessors,
            memory: profile.map(Memory::of),
        }
    }

    /// Bytes that each SM should have under way: what was measured where somebody did, else Little's law.
    pub(crate) fn bytes_needed(&self) -> Option<f64> {
        let memory = self.memory?;
        Some(memory.measured.map_or_else(|| self.by_little(memory), f64::from))
    }

    fn by_little(&self, memory: Memory) -> f64 {
        bytes_needed(memory.bandwidth, memory.latency_ns, self.sms)
    }

    /// Where [`Gpu::bytes_needed`] is from.
    pub(crate) fn source_of_need(&self) -> String {
        let Some(memory) = self.memory else {
            return "How many bytes an SM of this GPU must have in flight is not known: no profile names it."
                .to_owned();
        };
        let Memory { bandwidth, latency_ns, measured } = memory;
        let little = format!(
            "Little's law: {:.2} TB/s x {latency_ns:.0} ns / {} SMs = {:.1} KiB that each SM must have in flight. \
             The bandwidth is the speed of a copy. {latency_ns:.0} ns is an assumption, for an idle memory.",
            bandwidth / 1e12,
            self.sms,
            self.by_little(memory) / 1024.0
        );
        match measured {
            Some(bytes) => format!(
                "{little}\nA busy memory answers later: measurements on an H200 show that elementwise kernels need \
                 about {} KiB. \
                 This program takes that number as what is needed.",
                bytes / 1024
            ),
            None => format!(
                "{little}\nA busy memory answers later, so this number is only a lower limit. The course has \
                 no measured number for this GPU."
            ),
        }
    }
}

impl Memory {
    fn of(profile: &Profile) -> Memory {
        Memory {
            bandwidth: profile.dram_bandwidth,
            latency_ns: profile.dram_latency_ns,
            measured: profile.in_flight_measured,
        }
    }
}
