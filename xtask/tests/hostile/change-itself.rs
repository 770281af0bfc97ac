// contained
// Its own program, the driver, and the grader's.
fn hostile() {
    let own = std::env::current_exe().unwrap();
    let driver = std::path::PathBuf::from(std::env::var("FUSION_EMULATOR").unwrap());
    for file in [&own, &driver, &driver.with_file_name("xtask")] {
        assert!(std::fs::OpenOptions::new().write(true).open(file).is_err(), "{}", file.display());
        assert!(std::fs::remove_file(file).is_err());
    }
}
