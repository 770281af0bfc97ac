//! Calls code that may panic, and remembers where it did.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, PoisonError};

/// A panic's message and place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Panicked {
    pub(crate) message: String,
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// Calls `function`; a panic in it is an error and prints nothing.
pub(crate) fn catch<T>(function: impl FnOnce() -> T) -> Result<T, Panicked> {
    let place = Arc::new(Mutex::new(Panicked::default()));
    let seen = Arc::clone(&place);
    let previous = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let location = info.location();
        *seen.lock().unwrap_or_else(PoisonError::into_inner) = Panicked {
            message: message(info.payload()),
            file: location.map(|at| at.file().to_owned()).unwrap_or_default(),
            line: location.map_or(0, |at| at.line()),
            column: location.map_or(0, |at| at.column()),
        };
    }));
    // What the function has left half done is its own: nothing of it is used after a panic.
    let result = panic::catch_unwind(AssertUnwindSafe(function));
    panic::set_hook(previous);
    result.map_err(|payload| {
        let seen = place.lock().unwrap_or_else(PoisonError::into_inner).clone();
        // A function may set a hook of its own, which sees the place instead of ours.
        if seen.message.is_empty() { Panicked { message: message(payload.as_ref()), ..seen } } else { seen }
    })
}

/// What `panic!` was given: a string in one form or the other.
fn message(payload: &dyn Any) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_told_with_its_place() {
        assert_eq!(catch(|| 3), Ok(3));
        let empty: &[i32] = &[];
        let panicked = catch(|| empty[std::hint::black_box(2)]).unwrap_err();
        assert!(panicked.message.contains("index out of bounds"), "{}", panicked.message);
        assert!(panicked.file.ends_with("panics.rs") && panicked.line > 0);

        let own_hook = || {
            panic::set_hook(Box::new(|_| {}));
            panic!("mine");
        };
        assert_eq!(catch::<()>(own_hook), Err(Panicked { message: "mine".to_owned(), ..Panicked::default() }));
    }
}
