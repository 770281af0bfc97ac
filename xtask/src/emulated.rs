//! Which GPU the emulated device is, where a command says so.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use fusion_machine::Profile;
use fusion_profile::CHOICE;

/// What `--profile` takes.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Emulated {
    /// The GPU that is emulated, such as h200 or t4, or a file that describes one
    #[arg(long, value_name = "GPU", value_parser = choice)]
    pub(crate) profile: Option<String>,
}

/// What every worker is told.
static CHOSEN: OnceLock<String> = OnceLock::new();

impl Emulated {
    /// Lets all workers emulate it.
    pub(crate) fn choose(&self) {
        let of_environment = || std::env::var(CHOICE).ok().and_then(|given| choice(&given).ok());
        if let Some(chosen) = self.profile.clone().or_else(of_environment) {
            // A process runs one command.
            let _ = CHOSEN.set(chosen);
        }
    }

    /// The profile, for this process.
    pub(crate) fn get(&self) -> Result<Profile, String> {
        self.profile.as_deref().map_or_else(fusion_profile::chosen, fusion_profile::find)
    }
}

/// A choice as a process will understand it wherever it runs.
fn choice(given: &str) -> Result<String, String> {
    fusion_profile::find(given)?;
    if !fusion_profile::is_file(given) {
        return Ok(given.to_owned());
    }
    let path = std::path::absolute(given).map_err(|error| error.to_string())?;
    path.into_os_string().into_string().map_err(|_| "the path has to be Unicode".to_owned())
}

/// Tells a command which GPU it is, unless it is known to ask for another.
pub(crate) fn tell(command: &mut Command) {
    let decided = command.get_envs().any(|(name, _)| name == OsStr::new(CHOICE));
    if let Some(chosen) = CHOSEN.get().filter(|_| !decided) {
        command.env(CHOICE, chosen);
    }
}

/// The file that describes it, which whoever opens the device has to read.
pub(crate) fn file() -> Option<PathBuf> {
    let given = CHOSEN.get().cloned().or_else(|| std::env::var(CHOICE).ok())?;
    fusion_profile::is_file(&given).then(|| given.into())
}
