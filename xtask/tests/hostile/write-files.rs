// contained
// 
fn hostile() {
    for folder in ["@OUTSIDE@", "/tmp", "/dev/shm", "/var/tmp", ".", "@ROOT@", "@ROOT@/target"] {
        assert!(std::fs::write(format!("{folder}/hostile"), "x").is_err(), "{folder}");
        assert!(std::fs::create_dir(format!("{folder}/hostile")).is_err(), "{folder}");
        assert!(std::os::unix::fs::symlink("/etc/passwd", format!("{folder}/hostile")).is_err(), "{folder}");
    }
    assert!(std::fs::write(std::env::temp_dir().join("hostile"), "x").is_err());
}
