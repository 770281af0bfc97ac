//! `cargo xtask watch`: grades the exercise that the learner is at whenever its files change.
//!
//! Two files are looked at ten times a second. That costs next to nothing, and works where a file system tells of no events, such as
//! a container's or a network's, too. What runs, runs in a process of its own, which ends when something newer is to be judged.

mod eye;
mod job;
mod keys;
mod plain;
mod screen;
mod view;

use std::io::IsTerminal as _;
use std::time::Duration;

use super::choice::Learner;
use crate::device::Device;
use crate::emulated::Emulated;
use crate::interrupt::{self, Interrupt};
use crate::output;
use eye::Eye;
use job::Job;
use keys::Done;
use screen::Screen;
use view::View;

/// The command's options.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// The exercise to begin with, or a day; the next one where none is named
    #[arg(value_name = "TARGET")]
    target: Option<String>,
    /// Where to run: `auto` takes a GPU when there is one
    #[arg(long, value_enum, default_value_t = Device::Auto)]
    device: Device,
    #[command(flatten)]
    emulated: Emulated,
    /// Seconds that an exercise may take on one device
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// Do not build: use the programs that lie beside this one
    #[arg(long, visible_alias = "no-build")]
    prebuilt: bool,
}

/// How often files and keys are looked at.
const TICK: Duration = Duration::from_millis(100);

impl super::Run for Options {
    const LISTENS: bool = true;

    fn run(&self, interrupt: &Interrupt) -> u8 {
        let watched = Learner::find().and_then(|learner| {
            let exercise = learner.choose(self.target.as_deref())?;
            // Keys need one terminal, and a screen the other.
            match std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
                true => full_screen(self, View::new(learner, exercise), interrupt),
                false => plain::watch(self, &learner, exercise, interrupt),
            }
        });
        watched.unwrap_or_else(|why| {
            output::note(&format!("error: {why}"));
            2
        })
    }
}

/// A terminal that is closed sends SIGHUP, and may leave whoever waits for its keys waiting for ever: then the process is ended from here, and
/// what it has started ends with it.
fn end_without_a_terminal(interrupt: &Interrupt) {
    let interrupt = interrupt.clone();
    std::thread::spawn(move || {
        while !interrupt.requested() {
            std::thread::sleep(10 * TICK);
        }
        std::thread::sleep(10 * TICK);
        if !std::io::stdin().is_terminal() {
            std::process::exit(i32::from(interrupt::EXIT_CODE));
        }
    });
}

fn full_screen(options: &Options, mut view: View, interrupt: &Interrupt) -> Result<u8, String> {
    let failed = |error: std::io::Error| format!("the terminal cannot be used: {error}");
    let screen = Screen::enter().map_err(failed)?;
    end_without_a_terminal(interrupt);
    let mut eye = Eye::new(&view.learner.state.root, view.exercise);
    let mut job: Option<Job> = None;
    let code = loop {
        if interrupt.requested() {
            break interrupt::EXIT_CODE;
        }
        if eye.is_of_another(view.exercise) {
            eye = Eye::new(&view.learner.state.root, view.exercise);
        }
        if eye.has_news() {
            // The newest wins: what was under way is ended.
            job = Some(Job::grade(options, view.exercise));
            view.begin("grading");
        }
        if let Some(ended) = job.take_if(|job| job.has_ended()) {
            view.end(ended.finish());
        }
        screen.draw(&mut view).map_err(failed)?;
        match keys::next(TICK).map_err(failed)?.map(|key| keys::press(&mut view, key)) {
            None | Some(Done::Nothing) => {}
            Some(Done::Grade) => eye.forget(),
            Some(Done::Bench) => {
                job = Some(Job::bench(options, view.exercise));
                view.begin("timing");
            }
            Some(Done::Explain) => {
                job = Some(Job::explain(options, view.exercise));
                view.begin("explaining");
            }
            Some(Done::Quit(code)) => break code,
        }
    };
    Ok(code)
}
