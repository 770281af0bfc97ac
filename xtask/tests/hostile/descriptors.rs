// contained
// As many open files as there can be.
fn hostile() {
    let files: Vec<_> = (0..100_000).map_while(|_| std::fs::File::open("/dev/null").ok()).collect();
    assert!(files.len() < 1000);
}
