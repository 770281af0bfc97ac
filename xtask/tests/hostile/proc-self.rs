// contained
// Its own memory, by the way around its protection.
fn hostile() {
    for file in ["mem", "environ", "maps"] {
        assert!(std::fs::OpenOptions::new().read(true).open(format!("/proc/self/{file}")).is_err());
        assert!(std::fs::OpenOptions::new().write(true).open(format!("/proc/self/{file}")).is_err());
    }
}
