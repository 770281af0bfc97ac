//! The command line that all lessons share.

use clap::Args;
use fusion_device::Choice;
use fusion_machine::Profile;

use crate::Size;

/// Options of a lesson.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Which device: `auto` takes a GPU when there is one; `gpu`; `emulated`
    #[arg(long, default_value = "auto", value_name = "DEVICE")]
    pub device: Choice,
    /// Sizes, separated by commas: `2^20` elements, or `128x4096`, which are rows and columns [default: four sizes from 4096
    /// elements up, larger on a GPU]
    #[arg(long, value_delimiter = ',', value_name = "N|RxC,...")]
    pub sizes: Vec<Size>,
    /// Also show what each kernel asked of memory, under Nsight Compute's names; exact, on the emulated device only
    #[arg(long)]
    pub counters: bool,
}

/// Options of a lesson that shows several operations.
#[derive(Args, Clone, Debug)]
pub struct Selection {
    #[command(flatten)]
    pub options: Options,
    /// Only operations whose names begin like this
    #[arg(long, value_name = "NAME")]
    pub operation: Option<String>,
}

impl Options {
    /// The sizes to sweep over, ascending. The emulated device executes every thread, so its default ends
    /// earlier.
    pub(crate) fn sweep(&self, emulated: bool) -> Vec<Size> {
        let powers: &[u32] = if emulated { &[12, 16, 20, 22] } else { &[12, 16, 20, 24, 26] };
        let mut sizes = match &self.sizes[..] {
            [] => powers.iter().map(|power| Size::Elements(1 << power)).collect(),
            given => given.to_vec(),
        };
        sizes.sort_by_key(Size::order);
        sizes.dedup();
        sizes
    }
}

/// Parses the name of an emulated GPU, or a file that describes one: `h200`, `mine.toml`.
///
/// # Errors
/// What is wrong with it.
pub fn profile(choice: &str) -> Result<Profile, String> {
    fusion_profile::find(choice)
}
