//! The command line that all lessons share.

use clap::Args;
use fusion_device::Choice;
use fusion_machine::Profile;

/// Options of a lesson.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Which device: `auto` takes a GPU when there is one; `gpu`; `emulated`
    #[arg(long, default_value = "auto", value_name = "DEVICE")]
    pub device: Choice,
    /// Numbers of elements, separated by commas [default: four sizes from 4096 up, larger on a GPU]
    #[arg(long, value_delimiter = ',', value_name = "N,...", value_parser = parse_size)]
    pub sizes: Vec<usize>,
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
    pub(crate) fn sweep(&self, emulated: bool) -> Vec<usize> {
        let mut sizes = match (&self.sizes[..], emulated) {
            ([], true) => vec![1 << 12, 1 << 16, 1 << 20, 1 << 22],
            ([], false) => vec![1 << 12, 1 << 16, 1 << 20, 1 << 24, 1 << 26],
            (given, _) => given.to_vec(),
        };
        sizes.sort_unstable();
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

/// Accepts `1048576`, `1_048_576` and `2^20`.
fn parse_size(text: &str) -> Result<usize, String> {
    let plain = text.replace('_', "");
    let size = match plain.split_once('^') {
        Some(("2", exponent)) => exponent.parse().ok().and_then(|e| 1usize.checked_shl(e)),
        _ => plain.parse().ok(),
    };
    match size {
        Some(size) if (1..=1 << 31).contains(&size) => Ok(size),
        _ => Err("a size is a number of elements from 1 to 2^31, such as 1048576 or 2^20".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::parse_size;

    #[test]
    fn sizes_read_as_people_write_them() {
        for (text, expected) in [("4096", Some(4096)), ("1_000", Some(1000)), ("2^20", Some(1 << 20))] {
            assert_eq!(parse_size(text).ok(), expected, "{text}");
        }
        for text in ["", "0", "-1", "2^", "2^40", "3^2", "many"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
