//! Which GPU is emulated: one that is built in, by its name, or one that a file describes.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod say;

use std::path::Path;

use fusion_machine::Profile;

pub use say::say;

/// The environment variable that chooses: `t4`, or `mine.toml`.
pub const CHOICE: &str = "FUSION_EMULATED_GPU";

/// The profile that the environment asks for, or the first one.
///
/// # Errors
/// Why there is none, in a sentence.
pub fn chosen() -> Result<Profile, String> {
    let choice = std::env::var_os(CHOICE).unwrap_or_default();
    let choice = choice.to_string_lossy();
    if choice.is_empty() {
        return Ok(Profile::default());
    }
    find(&choice).map_err(|why| format!("{CHOICE}={choice}: {why}"))
}

/// The profile of that name, or of that file.
///
/// # Errors
/// Why there is none, in a sentence.
pub fn find(choice: &str) -> Result<Profile, String> {
    if let Some(profile) = Profile::named(choice) {
        return Ok(profile.clone());
    }
    if !is_file(choice) {
        let names: Vec<&str> = Profile::ids().collect();
        return Err(format!(
            "no GPU of that name can be emulated: choose one of {}, or a profile's file",
            names.join(", ")
        ));
    }
    let text = std::fs::read_to_string(choice).map_err(|error| format!("the file cannot be read: {error}"))?;
    Profile::parse(&text).map_err(|error| say(&error))
}

/// Whether a choice is a file's: a name is a word.
pub fn is_file(choice: &str) -> bool {
    Path::new(choice).components().count() > 1 || choice.ends_with(".toml")
}

/// The profile of an emulated device that calls itself so: the one that was chosen, or one that is built in.
pub fn of_device(name: &str) -> Option<Profile> {
    let chosen = chosen().ok().filter(|profile| profile.name == name);
    chosen.or_else(|| Profile::all().iter().find(|profile| profile.name == name).cloned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_a_name_or_a_file() {
        assert_eq!(find("T4").unwrap().id, "t4");
        let error = |choice| find(choice).unwrap_err();
        assert!(error("voodoo2").contains("choose one of h200, "), "{}", error("voodoo2"));
        for known in Profile::ids() {
            assert!(error("voodoo2").contains(known), "{known} is not among them: {}", error("voodoo2"));
        }
        assert!(error("./voodoo2.toml").starts_with("the file cannot be read: "));
        let built_in = concat!(env!("CARGO_MANIFEST_DIR"), "/../machine/profiles/l4.toml");
        assert_eq!(find(built_in).unwrap(), *Profile::named("l4").unwrap());
    }

    #[test]
    fn a_device_has_the_profile_of_its_name() {
        assert_eq!(of_device("Emulated A100").unwrap().id, "a100");
        assert_eq!(of_device("NVIDIA A100"), None);
    }
}
