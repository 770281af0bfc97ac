// contained; honest: contained
// Does not end when it is asked to.
fn hostile() {
    (1..32).for_each(|number| drop(unsafe { signal(number, 1) }));
    std::thread::spawn(|| loop { std::thread::park() });
}
