// refused
// Code that grows without an end.
macro_rules! grow { ($($x:tt)*) => { grow!($($x)* $($x)* x) } }
fn hostile() { grow!(x) }
