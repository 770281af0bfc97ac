//! Expected text in files, written anew with `BLESS=1 cargo test -p fusion-diagnostic`.

use std::fs;
use std::path::Path;

/// Compares with a file of this package, or writes it. Returns what differs.
pub(crate) fn compare(path: &str, actual: &str) -> Result<(), String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if is_asked_for() {
        return fs::write(&path, actual).map_err(|error| format!("{}: {error}", path.display()));
    }
    let expected = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    match expected == actual {
        true => Ok(()),
        false => Err(format!("{}:\n--- expected\n{expected}\n--- actual\n{actual}\n---", path.display())),
    }
}

pub(crate) fn is_asked_for() -> bool {
    std::env::var_os("BLESS").is_some_and(|bless| bless == "1")
}
