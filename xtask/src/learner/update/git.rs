//! Git, as far as an update needs it. It is never asked for anything that cannot be taken back.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A checkout that git knows.
#[derive(Debug)]
pub(super) struct Git {
    root: PathBuf,
}

impl Git {
    /// # Errors
    /// That there is no git, or the folder is none of its checkouts.
    pub(super) fn of(root: &Path) -> Result<Self, String> {
        let git = Self { root: root.to_owned() };
        let top =
            git.run(&["rev-parse", "--show-toplevel"]).map_err(|why| match why.contains("not a git repository") {
                true => no_history(),
                false => why,
            })?;
        let same = |path: &Path| std::fs::canonicalize(path).ok();
        // An archive that was unpacked within another repository.
        if same(Path::new(&top)) == same(root) { Ok(git) } else { Err(no_history()) }
    }

    /// What git prints, or what it complains of.
    fn run(&self, arguments: &[&str]) -> Result<String, String> {
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.root).args(arguments).stdin(Stdio::null());
        // Nobody is there to answer questions, and messages are looked at.
        command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_EDITOR", "true").env("LC_ALL", "C");
        let output = command.output().map_err(|error| match error.kind() {
            ErrorKind::NotFound => "git is not installed, and an update is taken with git".to_owned(),
            _ => format!("cannot run git: {error}"),
        })?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        match (output.status.success(), text(&output.stderr), text(&output.stdout)) {
            (true, _, out) => Ok(out),
            (false, why, out) => Err(if why.is_empty() { out } else { why }),
        }
    }

    /// Whether a merge can begin: on a branch, with none under way.
    pub(super) fn is_ready(&self) -> Result<(), String> {
        for (file, what) in [
            ("MERGE_HEAD", "merge"),
            ("rebase-merge", "rebase"),
            ("rebase-apply", "rebase"),
            ("CHERRY_PICK_HEAD", "cherry-pick"),
        ] {
            let path = self.run(&["rev-parse", "--git-path", file])?;
            if self.root.join(path).exists() {
                return Err(format!("a {what} is under way: finish it, or `git {what} --abort`, and update then"));
            }
        }
        let branch = self.run(&["symbolic-ref", "--quiet", "HEAD"]);
        branch.map(drop).map_err(|_| {
            "git is on no branch (detached HEAD): `git switch main`, or `git switch -c mine`, and update then"
                .to_owned()
        })
    }

    /// The remote and its branch that are to be taken.
    pub(super) fn source(&self, asked: Option<&str>) -> Result<(String, String), String> {
        let remotes = self.run(&["remote"])?;
        let named = asked
            .map(str::to_owned)
            .or_else(|| self.run(&["rev-parse", "--abbrev-ref", "--symbolic-full-name", "@{upstream}"]).ok());
        let Some(named) = named else {
            let all: Vec<String> = remotes.lines().map(|remote| format!("`--from {remote}/main`")).collect();
            let choices = if all.is_empty() {
                "add a remote first: `git remote add course URL`".to_owned()
            } else {
                all.join(" or ")
            };
            return Err(format!("this branch follows no other, so say where the newer course is: {choices}"));
        };
        // The name of a remote may have a `/`, too.
        let known = remotes.lines().find_map(|remote| {
            let branch = named.strip_prefix(remote)?.strip_prefix('/')?;
            (!branch.is_empty()).then(|| (remote.to_owned(), branch.to_owned()))
        });
        known.ok_or_else(|| {
            let all = remotes.lines().map(|remote| format!("`{remote}`")).collect::<Vec<_>>().join(", ");
            let there = if all.is_empty() { "there is none".to_owned() } else { format!("there is {all}") };
            format!("`{named}` is not a remote and its branch, such as `origin/main`: of remotes {there}")
        })
    }

    pub(super) fn head(&self) -> Result<String, String> {
        self.run(&["rev-parse", "HEAD"])
    }

    /// Fetches a branch; returns its commit.
    pub(super) fn fetch(&self, remote: &str, branch: &str) -> Result<String, String> {
        let fetched = self.run(&["fetch", "--quiet", "--no-tags", "--", remote, branch]);
        fetched.map_err(|why| format!("cannot fetch {branch} from {remote}, and nothing was changed:\n{why}"))?;
        self.run(&["rev-parse", "FETCH_HEAD"])
    }

    /// Whether a commit has another one among those that it stands on.
    pub(super) fn contains(&self, commit: &str, other: &str) -> bool {
        self.run(&["merge-base", "--is-ancestor", other, commit]).is_ok()
    }

    /// The files that a commit has changed since it parted from another one.
    pub(super) fn changed(&self, old: &str, new: &str) -> Result<Vec<String>, String> {
        let files = self.run(&[
            "-c",
            "core.quotePath=false",
            "diff",
            "--name-only",
            "--no-renames",
            &format!("{old}...{new}"),
        ])?;
        Ok(files.lines().map(str::to_owned).collect())
    }

    /// Whether the branch has a file.
    pub(super) fn has(&self, path: &str) -> bool {
        self.run(&["cat-file", "-e", &format!("HEAD:{path}")]).is_ok()
    }

    /// Makes files what the branch has, in the index as well.
    pub(super) fn restore(&self, paths: &[&str]) -> Result<(), String> {
        if paths.is_empty() {
            return Ok(());
        }
        self.run(&[&["checkout", "--quiet", "HEAD", "--"], paths].concat()).map(drop)
    }

    /// Merges a commit. Of these files the branch's own are kept. What cannot be merged is left as it was.
    pub(super) fn merge(&self, commit: &str, own: &[&str]) -> Result<(), String> {
        let old = self.head()?;
        let merge = ["-c", "merge.autoStash=false", "merge", "--quiet", "--ff", "--no-commit", commit];
        let merged = self.run(&[self.who(), &merge].concat());
        if self.head()? != old {
            // The branch had nothing of its own.
            return Ok(());
        }
        let done = self.settle(own).and_then(|left| match left[..] {
            [] => self.commit(),
            _ => Err(format!("these files were changed here and there: {}", left.join(", "))),
        });
        // Without a merge under way, git refused it, and says why.
        let done = match self.is_merging() || done.is_ok() {
            true => done,
            false => Err(merged.err().unwrap_or_default()),
        };
        done.inspect_err(|_| self.abort())
    }

    fn is_merging(&self) -> bool {
        self.run(&["rev-parse", "--quiet", "--verify", "MERGE_HEAD"]).is_ok()
    }

    /// Keeps the branch's own of these files, and returns the other ones that are in conflict.
    fn settle(&self, own: &[&str]) -> Result<Vec<String>, String> {
        if !self.is_merging() {
            return Err(String::new());
        }
        let kept: Vec<&str> = own.iter().copied().filter(|path| self.has(path)).collect();
        self.restore(&kept)?;
        let left = self.run(&["-c", "core.quotePath=false", "diff", "--name-only", "--diff-filter=U"])?;
        Ok(left.lines().map(str::to_owned).collect())
    }

    fn commit(&self) -> Result<(), String> {
        let commit = ["-c", "commit.gpgSign=false", "commit", "--quiet", "--no-edit"];
        self.run(&[self.who(), &commit].concat()).map(drop)
    }

    /// Who merges, where the learner has not told git yet.
    fn who(&self) -> &'static [&'static str] {
        let is_known = ["user.name", "user.email"].iter().all(|key| self.run(&["config", key]).is_ok());
        if is_known { &[] } else { &["-c", "user.name=learner", "-c", "user.email=learner@localhost"] }
    }

    /// Ends a merge that is under way, if there is one.
    pub(super) fn abort(&self) {
        if self.is_merging() {
            // What was there before it, git has kept.
            let _none = self.run(&["merge", "--abort"]);
        }
    }

    /// Moves the branch back to a commit. Other files that were edited stay as they are, or it is refused.
    pub(super) fn go_back(&self, commit: &str) -> Result<(), String> {
        self.run(&["reset", "--quiet", "--keep", commit]).map(drop)
    }
}

fn no_history() -> String {
    "this folder has no git history, so nothing can be merged into it. Clone the course into another folder, and copy your answers \
     (exercises/day*/src) and the folder .course there"
        .to_owned()
}
