// contained
// The specification, the solution, the manifest.
fn hostile() {
    for file in ["Cargo.toml", "crates/course/src/day22/mul_add.rs", "solutions/day22/src/mul_add.cu"] {
        assert!(std::fs::OpenOptions::new().write(true).open(format!("@ROOT@/{file}")).is_err(), "{file}");
    }
}
