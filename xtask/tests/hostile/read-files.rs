// contained
// What is none of its business.
fn hostile() {
    for path in ["/etc/passwd", "/etc/hostname", "/root", "/home", "@SECRET@", "@ROOT@/solutions/day22/src/mul_add.cu", "@ROOT@/Cargo.toml"] {
        assert!(std::fs::read(path).is_err() && std::fs::read_dir(path).is_err(), "{path}");
    }
}
