//! Prints which NVRTC would be used; with `--fetch`, fetches one when there is none.

use std::process::ExitCode;

fn main() -> ExitCode {
    let found = if std::env::args().any(|argument| argument == "--fetch") {
        fusion_toolchain::find_or_fetch(&mut fusion_toolchain::Terminal::new()).map_err(|error| error.to_string())
    } else {
        fusion_toolchain::find().map_err(|error| error.to_string())
    };
    match found {
        Ok(toolchain) => {
            println!("{toolchain}\n{toolchain:#?}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
