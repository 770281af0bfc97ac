//! The C boundary: how functions are exported, and the only places where a caller's pointer is followed.
//!
//! Parameters that are pointers have the types below, which are laid out as the pointer itself. They can
//! come into being only as arguments of an exported function, so that what the CUDA API asks of its
//! callers (null, or valid for the type at hand) is stated once, here, and not at every use.

use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Error, Result, Status};

/// Exports functions of the driver API. Each becomes an `extern "C"` symbol that returns a `CUresult`
/// and never unwinds; the module gets a table of them, `EXPORTS`.
macro_rules! export {
    ($($(#[$meta:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {
        $(
            $(#[$meta])*
            #[allow(non_snake_case, clippy::too_many_arguments)]
            #[unsafe(no_mangle)]
            extern "C" fn $name($($arg: $ty),*) -> $crate::error::Status {
                $crate::boundary::guard(stringify!($name), move || $body)
            }
        )*

        pub(crate) static EXPORTS: &[$crate::boundary::Export] =
            &[$($crate::boundary::Export::new(stringify!($name), $name as *const ())),*];
    };
}
pub(crate) use export;

/// A symbol of this library.
pub(crate) struct Export {
    pub(crate) name: &'static str,
    address: *const (),
}

// SAFETY: the address is that of a function, which lives as long as the library and is never written to.
unsafe impl Sync for Export {}

impl Export {
    pub(crate) const fn new(name: &'static str, address: *const ()) -> Self {
        Self { name, address }
    }

    pub(crate) fn address(&self) -> *const () {
        self.address
    }
}

/// Runs the body of an exported function; a panic becomes an error code, for it must not cross into C.
pub(crate) fn guard(name: &str, body: impl FnOnce() -> Result) -> Status {
    let result = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        crate::report::say(&format!("{name} panicked: this is a bug of the emulator"));
        Err(Error::UNKNOWN)
    });
    result.into()
}

/// A pointer through which a result is returned.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Out<T>(*mut T);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T> Out<T> {
    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Refuses null, before anything has been done that would have to be undone.
    pub(crate) fn required(self) -> Result {
        if self.0.is_null() { Err(Error::INVALID_VALUE) } else { Ok(()) }
    }

    pub(crate) fn set(self, value: T) -> Result {
        self.required()?;
        // SAFETY: not null, so by the CUDA API's contract it points to room for a T.
        unsafe { self.0.write_unaligned(value) };
        Ok(())
    }

    /// For results that the caller may decline by passing null.
    pub(crate) fn set_if_wanted(self, value: T) {
        let _ = self.set(value);
    }

    /// For arguments that are both read and written.
    pub(crate) fn get(self) -> Result<T>
    where
        T: Copy,
    {
        In(self.0.cast_const()).get()
    }

    /// Writes as many values as there are, one after another.
    pub(crate) fn set_all(self, values: impl IntoIterator<Item = T>) -> Result {
        self.required()?;
        for (i, value) in values.into_iter().enumerate() {
            // SAFETY: by the CUDA API's contract the array has room for as many elements as the caller asked for.
            unsafe { self.0.add(i).write_unaligned(value) };
        }
        Ok(())
    }
}

impl Out<c_char> {
    /// Writes a string cut to `len` bytes with its NUL.
    pub(crate) fn set_text(self, text: &str, len: usize) -> Result {
        if len == 0 {
            return Err(Error::INVALID_VALUE);
        }
        let bytes = text.bytes().take(len - 1).chain([0]);
        self.set_all(bytes.map(|b| b as c_char))
    }
}

/// A pointer to one or more values that the caller passes in.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct In<T>(*const T);

impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<T> {}

impl<T: Copy> In<T> {
    pub(crate) fn get(self) -> Result<T> {
        if self.0.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        // SAFETY: not null, so by the CUDA API's contract it points to a T.
        Ok(unsafe { self.0.read_unaligned() })
    }

    /// The values of an array of that length, which may be null when it is empty.
    pub(crate) fn get_all(self, len: usize) -> Result<Vec<T>> {
        if self.0.is_null() && len > 0 {
            return Err(Error::INVALID_VALUE);
        }
        // SAFETY: by the CUDA API's contract the array has `len` elements.
        Ok((0..len).map(|i| unsafe { self.0.add(i).read_unaligned() }).collect())
    }
}

/// A NUL-terminated string that the caller passes in.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct Text(*const c_char);

impl Text {
    pub(crate) fn get(self) -> Result<String> {
        if self.0.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        // SAFETY: not null, so by the CUDA API's contract it points to a NUL-terminated string.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_string_lossy().into_owned())
    }
}

/// A pointer to memory of the host, of a size that another argument states or that is not known at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Raw(pub(crate) usize);

impl Raw {
    pub(crate) const NULL: Self = Self(0);

    pub(crate) fn is_null(self) -> bool {
        self.0 == 0
    }

    /// This pointer, when it is known to mean a string.
    pub(crate) fn as_text(self) -> Text {
        Text(self.0 as *const c_char)
    }

    /// This pointer, when it is known to mean values of a type that are passed in.
    pub(crate) fn as_in<T>(self) -> In<T> {
        In(self.0 as *const T)
    }

    /// This pointer, when it is known to mean room for values of a type.
    pub(crate) fn as_out<T>(self) -> Out<T> {
        Out(self.0 as *mut T)
    }
}
