//! `cargo run -p fusion-mutants --example list -- solutions/day22/src/add_gelu.cu`: every mutant of a source.

fn main() -> std::io::Result<()> {
    for path in std::env::args().skip(1) {
        for mutant in fusion_mutants::mutants(&std::fs::read_to_string(&path)?) {
            println!("{path} {}: {}\n{}", mutant.id, mutant.operator.does, mutant.diff());
        }
    }
    Ok(())
}
