//! What makes and checks the book, behind `cargo xtask book`: formulas, outputs of commands, and every page in a browser.
//!
//! Readers need none of it, and `mdbook build book` needs none of it: what is made here is committed under `book/src`.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod browser;
mod changes;
mod formulas;
mod generated;
mod numbers;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;

/// Makes the generated parts of the book anew, or checks them.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask book", version, about)]
#[command(after_help = "Exit codes: 0 all is well, 1 something differs or is broken, 2 it could not be found out.")]
struct Options {
    /// Write nothing: say which files differ from what their commands make, and which numbers in prose nothing backs
    #[arg(long, conflicts_with = "browser")]
    check: bool,
    /// Build the book and open every page in a headless Chromium
    #[arg(long)]
    browser: bool,
    /// Also write pictures of pages into this folder, light, dark and as on a phone
    #[arg(long, value_name = "FOLDER", requires = "browser")]
    screenshots: Option<PathBuf>,
    /// Only what has this in its path, such as `day22` or `softmax`
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

/// Why the tool could not do its work: what happened and what to do next.
type Failure = String;

fn main() -> ExitCode {
    let options = Options::parse();
    let root = root();
    let done = if options.browser {
        browser::run(&root, options.screenshots.as_deref(), options.only.as_deref())
    } else {
        regenerate(&root, options.check, options.only.as_deref())
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::from(2)
        }
    }
}

/// Where the repository is: cargo says where this package is.
fn root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let package = PathBuf::from(package);
    package.ancestors().nth(2).map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

fn regenerate(root: &Path, check: bool, only: Option<&str>) -> Result<bool, Failure> {
    let book = root.join("book");
    let mut changes = changes::Changes::new(&book.join("src"), check, only);
    for problem in numbers::unbacked(&book.join("src"))? {
        changes.problem(problem);
    }
    formulas::regenerate(&book, &mut changes)?;
    generated::regenerate(root, &mut changes)?;
    changes.met()?;
    print!("{}", changes.summary());
    Ok(changes.fine())
}

/// Reads a file, or says why not.
fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}
