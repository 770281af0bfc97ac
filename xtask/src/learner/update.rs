//! `cargo xtask update`: takes a newer course, and keeps every answer.
//!
//! Git merges. Before it does, each file of an answer is saved and put back to what the branch has, so that no edit is in its way; behind
//! it, each edited answer is written back whole. So git never merges into an answer. What it refuses, because of other files, leaves
//! everything as it was.

mod answers;
mod git;
mod news;
mod record;

use super::choice::tell;
use super::state::{NO_CHECKOUT, State};
use crate::command::program;
use crate::interrupt::Interrupt;
use answers::Answers;
use git::Git;
use news::News;
use record::Record;

/// The command's options.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Where the newer course is [default: the branch that this one follows]
    #[arg(long, value_name = "REMOTE/BRANCH", conflicts_with = "undo")]
    from: Option<String>,
    /// Say what would change, and change nothing
    #[arg(long, conflicts_with = "undo")]
    dry_run: bool,
    /// Go back to what was there before the last update
    #[arg(long)]
    undo: bool,
}

impl super::Run for Options {
    fn run(&self, _interrupt: &Interrupt) -> u8 {
        tell(State::find().ok_or_else(|| NO_CHECKOUT.to_owned()).and_then(|state| {
            let git = Git::of(&state.root)?;
            if self.undo { undo(&state, &git) } else { update(&state, &git, self) }
        }))
    }
}

fn update(state: &State, git: &Git, options: &Options) -> Result<String, String> {
    git.is_ready()?;
    let (remote, branch) = git.source(options.from.as_deref())?;
    let (old, new) = (git.head()?, git.fetch(&remote, &branch)?);
    if git.contains(&old, &new) {
        return Ok(format!("{remote}/{branch} has nothing new: the course is as new as it is there.\n"));
    }
    let answers = Answers::read(&state.root)?;
    let news = News::of(&git.changed(&old, &new)?, &answers);
    let from = format!("{remote}/{branch}");
    if options.dry_run {
        return Ok(format!("{from} is newer. Nothing was changed; an update brings this:\n\n{}", news.text()));
    }
    let saved = answers.save(state)?;
    let earlier = Record::read(state).ok().flatten();
    // From here on `--undo` knows what was there.
    Record { before: old.clone(), after: None, answers: answers.clone() }.write(state)?;
    let merged = answers.put_aside(&state.root, git).and_then(|()| git.merge(&new, &answers.paths()));
    let back = answers.write_back(&state.root);
    if let Err(why) = merged {
        back?;
        // The update before this one can still be undone.
        earlier.map_or_else(|| Record::forget(state), |earlier| earlier.write(state))?;
        return Err(format!("the course was not updated, and nothing was changed: {why}"));
    }
    back?;
    Record { before: old, after: Some(git.head()?), answers }.write(state)?;
    let kept = match saved {
        0 => String::new(),
        _ => "\nEvery edited answer is as you left it, and a copy is in .course/saved.".to_owned(),
    };
    Ok(format!(
        "The course is that of {from} now.{kept}\n\n{}{}Back to what was there before: {} update --undo\n",
        news.text(),
        news.next(),
        program()
    ))
}

fn undo(state: &State, git: &Git) -> Result<String, String> {
    let Some(record) = Record::read(state)? else {
        return Err(format!("there was no update that could be undone; `{} update` makes one", program()));
    };
    let Record { before, after, answers: old } = record;
    let head = git.head()?;
    // An update that did not come to its end has left the branch where it was, or merged without a word of it.
    let is_last = after.is_none_or(|after| after == head);
    if !is_last {
        let before = before.get(..12).unwrap_or_default();
        return Err(format!(
            "there are commits since the update, which going back would leave behind. The course was at {before} before: \
             `git switch -c older {before}` looks at it"
        ));
    }
    let now = Answers::read(&state.root)?.and(&old, &state.root)?;
    now.save(state)?;
    git.abort();
    if let Err(why) = now.put_aside(&state.root, git).and_then(|()| git.go_back(&before)) {
        now.write_back(&state.root)?;
        return Err(format!("the update was not undone, and nothing was changed: {why}"));
    }
    old.write_back(&state.root)?;
    Record::forget(state)?;
    Ok("The course and your answers are what they were before the update. What you had since is in .course/saved.\n"
        .to_owned())
}
