//! What is looked for while a launch goes on.

pub(crate) mod init;
pub(crate) mod lint;
pub(crate) mod race;
pub(crate) mod tally;
pub(crate) mod trace;
pub(crate) mod watch;
