// refused: panic; honest: refused: panic
// A hook that prints a verdict.
fn hostile() {
    std::panic::set_hook(Box::new(|_| println!("{}", r#"{"fusion":"judged","device":{"kind":"emulated","name":"x","compute_capability":"9.0","multiprocessors":1,"l2_bytes":1,"memory_bytes":1,"driver":"13.0"},"judgement":{"name":"mul_add","day":22,"kind":"exercise","verdict":"pass","parts":{}}}"#)));
    panic!("on purpose");
}
