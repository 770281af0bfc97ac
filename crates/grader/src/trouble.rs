//! What ends the judging of a submission early.

use crate::judgement::Failure;

/// Why a part could not be judged to its end.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The submission is to blame.
    Failure(Box<Failure>),
    /// It is not: the emulated device lacks something, or the machine is broken. The text says what.
    Unable(String),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Trouble::Failure(Box::new(failure))
    }
}

impl From<Box<Failure>> for Trouble {
    fn from(failure: Box<Failure>) -> Self {
        Trouble::Failure(failure)
    }
}

impl Trouble {
    /// The driver refused something of our own.
    pub(crate) fn driver(doing: &str) -> impl FnOnce(cudarc::driver::DriverError) -> Self + '_ {
        move |error| Trouble::Unable(format!("the driver failed while {doing}: {error}"))
    }

    /// Adds the shape to a failure that has none.
    pub(crate) fn at(mut self, shape: impl std::fmt::Display) -> Self {
        if let Trouble::Failure(failure) = &mut self {
            failure.shape.get_or_insert_with(|| shape.to_string());
        }
        self
    }
}
