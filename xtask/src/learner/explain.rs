//! `cargo xtask explain CODE`: what a fault's code means, with a wrong and a right kernel. `cargo xtask explain EXERCISE`: what the learner's
//! kernel became.

mod kernel;

use fusion_course::Exercise;
use fusion_diagnostic::{Look, essay};
use fusion_grader::judgement::{CAUSE, CAUSE_MEANING, Code, SUSPECT, SUSPECT_MEANING};

use super::choice::tell;
use super::state::exercises;
use crate::command::program;
use crate::emulated::Emulated;
use crate::interrupt::Interrupt;
use crate::output;

/// The command's options.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// A code, as a report shows it in brackets; `e-null` and `null` will do for `E-NULL`. All codes are listed without one. Or an
    /// exercise: then what your kernel became is shown
    #[arg(value_name = "CODE|EXERCISE")]
    code: Option<String>,
    #[command(flatten)]
    emulated: Emulated,
    /// Print one JSON object instead of text, of an exercise
    #[arg(long)]
    json: bool,
    /// Do not build: use the programs that lie beside this one
    #[arg(long, visible_alias = "no-build")]
    prebuilt: bool,
    /// Seconds that each kernel may take
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    timeout: u64,
}

impl super::Run for Options {
    const LISTENS: bool = true;

    fn run(&self, interrupt: &Interrupt) -> u8 {
        let exercise = self.code.as_deref().and_then(|asked| fusion_course::find(&asked.to_lowercase()));
        match exercise {
            Some(exercise) => kernel::run(self, exercise, interrupt),
            None if self.json => tell(Err("--json is for an exercise: a code has an essay".to_owned())),
            None => tell(explain(self.code.as_deref(), output::look().into())),
        }
    }
}

const EMULATED_TELLS_MORE: &str =
    "A GPU says no more. The emulated device tells which thread did what at which line: `grade --device emulated`.";

/// Whether it has the form of `E0308`.
fn is_rustc(code: &str) -> bool {
    code.strip_prefix('E').is_some_and(|digits| digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

pub(crate) fn explain(asked: Option<&str>, look: Look) -> Result<String, String> {
    let Some(asked) = asked else {
        return Ok(format!("{}\nfor more: {} explain CODE\n", essay::index(look), program()));
    };
    let finding = Code::ALL.iter().find(|code| code.to_string().eq_ignore_ascii_case(asked));
    match essay::find(asked) {
        Ok(code) => Ok(essay::text(code, look)),
        Err(like) => {
            // What the grader finds itself is no fault of the device, and has no page of its own.
            if let Some(code) = finding {
                let meaning = code.meaning();
                let more = "The page book/src/appendix/grader.md says how it is decided.";
                return Ok(format!("{code}: a finding of the grader\n\n{meaning}\n\n{more}\n"));
            }
            if asked.eq_ignore_ascii_case(CAUSE) {
                return Ok(format!("{CAUSE}: the reason of what is told below it\n\n{CAUSE_MEANING}\n"));
            }
            if asked.eq_ignore_ascii_case(SUSPECT) {
                return Ok(format!(
                    "{SUSPECT}: what may be the reason of what is told above it\n\n{SUSPECT_MEANING}\n"
                ));
            }
            // Codes of others, which a report shows in brackets, too.
            if is_rustc(asked) {
                return Ok(format!(
                    "{asked} is a code of the Rust compiler's: `rustc --explain {asked}` tells more.\n"
                ));
            }
            if asked.starts_with("CUDA_ERROR_") {
                return Ok(format!("{asked} is an error of the CUDA driver's. {EMULATED_TELLS_MORE}\n"));
            }
            // No name is as long, and to compare takes time.
            let start: String = asked.chars().take(64).collect();
            let name = |exercise: &&Exercise| strsim::normalized_damerau_levenshtein(&start, exercise.name);
            let nearest = exercises().max_by(|one, other| name(one).total_cmp(&name(other)));
            if let Some(exercise) = nearest.filter(|exercise| name(exercise) > 0.6) {
                let name = exercise.name;
                return Err(format!(
                    "no code and no exercise is called `{asked}`; did you mean the exercise `{name}`?"
                ));
            }
            let like: Vec<String> = like.iter().map(|code| format!("`{code}`")).collect();
            Err(format!("no code is called `{asked}`; did you mean {}?", like.join(" or ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_explained_and_a_wrong_one_answered() {
        let text = explain(Some("null"), Look::default()).unwrap();
        assert!(text.starts_with("E-NULL\n\nAccess through a null pointer."), "{text}");
        // Kernels stay as they are.
        let prose = text.lines().filter(|line| !line.starts_with("    "));
        assert!(prose.into_iter().all(|line| line.chars().count() <= 80), "{text}");
        assert!(explain(None, Look::default()).unwrap().contains("P-DIVERGENT"));
        assert!(explain(Some("unwritten"), Look::default()).unwrap().starts_with("unwritten: a finding of the grader"));
        assert!(explain(Some("cause"), Look::default()).unwrap().starts_with("cause: the reason of"));
        assert!(explain(Some("suspect"), Look::default()).unwrap().starts_with("suspect: what may be the reason of"));
        assert!(explain(Some("E0308"), Look::default()).unwrap().contains("rustc --explain E0308"));
        assert!(explain(Some("CUDA_ERROR_LAUNCH_FAILED"), Look::default()).unwrap().contains("--device emulated"));
        assert!(explain(Some("sofmax"), Look::default()).unwrap_err().contains("the exercise `softmax`"));
        assert!(explain(Some("E-NUL"), Look::default()).unwrap_err().contains("did you mean `E-NULL`"));
    }
}
