//! The multiprocessors' clock, where NVML answers.

use nvml_wrapper::Nvml;
use nvml_wrapper::enum_wrappers::device::Clock;

use crate::judgement::Clocks;
use crate::session::Session;

/// A source of clock samples that may have none.
pub(super) struct Sampler {
    nvml: Option<(Nvml, String)>,
    seen: Vec<u32>,
}

impl Sampler {
    pub(super) fn new(session: &Session) -> Self {
        let nvml = if session.is_emulated() { None } else { pci_bus_id(session).and_then(open) };
        Self { nvml, seen: Vec::new() }
    }

    /// The clock now, in MHz.
    pub(super) fn sample(&mut self) -> Option<u32> {
        let (nvml, bus) = self.nvml.as_ref()?;
        let mhz = nvml.device_by_pci_bus_id(bus.as_str()).ok()?.clock_info(Clock::SM).ok()?;
        self.seen.push(mhz);
        Some(mhz)
    }

    /// Whether there is any point in asking.
    pub(super) fn answers(&self) -> bool {
        self.nvml.is_some()
    }

    /// All samples so far.
    pub(super) fn clocks(&self) -> Option<Clocks> {
        let mut seen = self.seen.clone();
        seen.sort_unstable();
        Some(Clocks { min: *seen.first()?, median: *seen.get(seen.len() / 2)?, max: *seen.last()? })
    }
}

/// NVML, if it is there and knows the device.
fn open(bus: String) -> Option<(Nvml, String)> {
    let nvml = Nvml::init().ok()?;
    nvml.device_by_pci_bus_id(bus.as_str()).ok()?.clock_info(Clock::SM).ok()?;
    Some((nvml, bus))
}

/// Where the device sits, which is how NVML and CUDA agree on which one is meant.
fn pci_bus_id(session: &Session) -> Option<String> {
    use cudarc::driver::sys::CUdevice_attribute as Attribute;
    let attribute = |which| session.device.context.attribute(which).ok();
    let domain = attribute(Attribute::CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID)?;
    let bus = attribute(Attribute::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)?;
    let device = attribute(Attribute::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)?;
    Some(format!("{domain:08x}:{bus:02x}:{device:02x}.0"))
}
