// contained
// The reference is there to be called, and there is nothing to call it with.
fn hostile() {
    assert!(fusion_course::find("mul_add").is_some());
}
