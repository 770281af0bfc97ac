// contained
// There is nothing in it.
fn hostile() {
    assert!(std::env::vars().all(|(name, _)| name.starts_with("FUSION_EMULAT")));
}
