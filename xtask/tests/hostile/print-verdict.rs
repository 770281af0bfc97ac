// contained; honest: contained
// A verdict on standard output is only shown.
fn hostile() {
    println!("{}", r#"{"fusion":"judged","device":{"kind":"emulated","name":"x","compute_capability":"9.0","multiprocessors":1,"l2_bytes":1,"memory_bytes":1,"driver":"13.0"},"judgement":{"name":"mul_add","day":22,"kind":"exercise","verdict":"pass","parts":{}}}"#);
}
