//! A worker, as `grade` starts one, whose submissions have the mistakes of beginners. The text beside each mistake is what `grade`
//! must say of it (`tests/messages.rs`).

// Launching a kernel is unsafe.
#![allow(unsafe_code)]

use fusion_course::{Entry, Sample, Source, Submission};

/// An answer to an exercise under the path that a learner's has.
macro_rules! entry {
    ($exercise:ident, $launch:path, $text:expr, $rust:expr) => {{
        #[allow(unused_imports, reason = "each day has its exercises")]
        use fusion_course::{day21::*, day22::*, day23::*, day24::*, day25::*, day26::*, day27::*, day28::*};
        let path =
            |extension| format!("exercises/day{}/src/{}.{extension}", $exercise::EXERCISE.day, stringify!($exercise));
        $exercise::entry($launch, Source { path: path("cu"), text: $text.to_owned() }).with_rust(path("rs"), $rust)
    }};
}

// `answers` and `mistakes`, written by the build script.
include!(concat!(env!("OUT_DIR"), "/collected.rs"));

fn main() -> std::process::ExitCode {
    fusion_grader::worker::main_with(Submission { day: 0, entries: answers() }, Vec::new(), mistakes())
}
