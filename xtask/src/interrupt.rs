//! Ctrl-C: finish what must be finished, say what is known, end with 130.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The exit code of a program that SIGINT ended: 128 + 2.
pub(crate) const EXIT_CODE: u8 = 130;

/// Whether somebody wants us to stop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens for SIGINT, SIGTERM and SIGHUP. The first asks for an orderly end; a second one ends at once, and
    /// the workers with it, because each of them holds a pipe to this process.
    pub(crate) fn listen() -> Self {
        let interrupt = Self::default();
        let flag = Arc::clone(&interrupt.0);
        // Without a handler Ctrl-C still ends the program, only less orderly.
        let _unavailable = ctrlc::set_handler(move || {
            if flag.swap(true, Ordering::SeqCst) {
                std::process::exit(i32::from(EXIT_CODE));
            }
        });
        interrupt
    }

    /// Asks for an orderly end, as Ctrl-C does.
    pub(crate) fn request(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    pub(crate) fn requested(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
