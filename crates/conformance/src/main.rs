//! `fusion-conformance`: runs the PTX instruction suite on the emulated device or on a real GPU.

use clap::Parser;
use fusion_conformance::{Case, module_text, select};

#[derive(Parser)]
struct Arguments {
    #[arg(long)]
    print: bool,
    filters: Vec<String>,
}
fn main() {
    let arguments = Arguments::parse();
    for (name, text) in select(&arguments.filters) {
        match Case::parse(name, text) {
            Ok(case) => if arguments.print { println!("{}", module_text(&case)) },
            Err(e) => eprintln!("{name}: {e}"),
        }
    }
}
