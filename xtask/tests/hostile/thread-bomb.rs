// contained or refused: crash
// As many threads as there can be. What meets the limit of memory first is chance: the next thread's stack, an error that
// this code handles, or what the last thread needs to begin, for which Rust's library aborts the process.
fn hostile() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let end = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let mut threads = Vec::new();
        for _ in 0..20_000 {
            let end = Arc::clone(&end);
            let wait = move || while !end.load(std::sync::atomic::Ordering::Relaxed) { std::thread::park_timeout(std::time::Duration::from_millis(50)) };
            match std::thread::Builder::new().spawn(wait) {
                Ok(thread) => threads.push(thread),
                Err(_) => break,
            }
        }
        end.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(threads.len() < 20_000);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}
