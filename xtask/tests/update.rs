//! `xtask update` between real git repositories: a course, and a learner's clone of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// What the course has at first.
const COURSE: &[(&str, &str)] = &[
    ("Cargo.toml", "[workspace]\n"),
    ("xtask/Cargo.toml", ""),
    (".gitignore", "/.course\n"),
    ("lessons/kernels.cu", "one\ntwo\nthree\n"),
    ("crates/course/src/day22/mul_add.rs", "old\n"),
    ("exercises/day22/src/main.rs", "main\n"),
    ("exercises/day22/src/mul_add.cu", "// TODO\nold\n"),
    ("exercises/day22/src/mul_add.rs", "// TODO\nold\n"),
    ("exercises/day22/starter/mul_add.cu", "// TODO\nold\n"),
    ("exercises/day22/starter/mul_add.rs", "// TODO\nold\n"),
    ("exercises/day22/src/later.cu", "// TODO\n"),
    ("exercises/day22/starter/later.cu", "// TODO\n"),
];

const ANSWER: &str = "exercises/day22/src/mul_add.cu";
const LAUNCH: &str = "exercises/day22/src/mul_add.rs";
const STARTER: &str = "exercises/day22/starter/mul_add.cu";
const LATER: &str = "exercises/day22/src/later.cu";
const LESSON: &str = "lessons/kernels.cu";
const SPECIFICATION: &str = "crates/course/src/day22/mul_add.rs";

/// A new starter: what the course changes together.
const NEW_STARTER: &[(&str, &str)] = &[(ANSWER, "// TODO\nnew\n"), (STARTER, "// TODO\nnew\n")];

/// What the learner has done by the time of the update.
enum Done {
    Edit(&'static str, &'static str),
    Remove(&'static str),
    Commit,
    Git(&'static [&'static str]),
    /// The course cannot be reached.
    Offline,
    /// A downloaded archive has no history.
    Archive,
}

use Done::{Archive, Commit, Edit, Git, Offline, Remove};

struct Case {
    name: &'static str,
    done: &'static [Done],
    /// What the course changes meanwhile.
    course: &'static [(&'static str, &'static str)],
    arguments: &'static [&'static str],
    /// What is said, at exit code 0 or 2.
    code: i32,
    says: &'static [&'static str],
    /// Files behind it.
    then: &'static [(&'static str, &'static str)],
}

const CASES: &[Case] = &[
    Case {
        name: "nothing new",
        done: &[Edit(ANSWER, "mine\n")],
        course: &[],
        arguments: &[],
        code: 0,
        says: &["origin/main has nothing new"],
        then: &[(ANSWER, "mine\n")],
    },
    Case {
        name: "answers that were not begun become the new starters",
        done: &[],
        course: NEW_STARTER,
        arguments: &[],
        code: 0,
        says: &["The course is that of origin/main now.", "mul_add: its starter changed\n"],
        then: &[(ANSWER, "// TODO\nnew\n"), (STARTER, "// TODO\nnew\n")],
    },
    Case {
        name: "an answer that was edited stays, and the new starter is beside it",
        done: &[Edit(ANSWER, "mine\n")],
        course: NEW_STARTER,
        arguments: &[],
        code: 0,
        says: &["yours stays, and the new one is exercises/day22/starter/mul_add.cu", "grade mul_add\n"],
        then: &[(ANSWER, "mine\n"), (STARTER, "// TODO\nnew\n"), (LAUNCH, "// TODO\nold\n")],
    },
    Case {
        name: "so does one that was committed",
        done: &[Edit(ANSWER, "mine\n"), Commit],
        course: NEW_STARTER,
        arguments: &[],
        code: 0,
        says: &["yours stays"],
        then: &[(ANSWER, "mine\n"), (STARTER, "// TODO\nnew\n")],
    },
    Case {
        name: "one that was committed and edited further",
        done: &[Edit(ANSWER, "// TODO\nold\nmine\n"), Commit, Edit(ANSWER, "further\n"), Edit(LATER, "begun\n")],
        course: NEW_STARTER,
        arguments: &[],
        code: 0,
        says: &["yours stays"],
        then: &[(ANSWER, "further\n"), (LATER, "begun\n"), (STARTER, "// TODO\nnew\n")],
    },
    Case {
        name: "git merges nothing into an answer, even where it could",
        done: &[Edit(ANSWER, "// TODO\nold\n\n\n\n\nmine\n"), Commit],
        course: &[(ANSWER, "new\n// TODO\nold\n"), (STARTER, "new\n// TODO\nold\n")],
        arguments: &[],
        code: 0,
        says: &["yours stays"],
        then: &[(ANSWER, "// TODO\nold\n\n\n\n\nmine\n")],
    },
    Case {
        name: "a specification that changed asks for another grade",
        done: &[Edit(ANSWER, "mine\n"), Git(&["add", "-A"])],
        course: &[(SPECIFICATION, "new\n"), (LESSON, "new\n")],
        arguments: &[],
        code: 0,
        says: &["mul_add: its specification changed\n", "1 other file of the course changed", "Grade again: "],
        then: &[(ANSWER, "mine\n"), (SPECIFICATION, "new\n"), (LESSON, "new\n")],
    },
    Case {
        name: "an answer that was deleted is the course's again",
        done: &[Remove(ANSWER), Edit(LAUNCH, "mine\n")],
        course: &[(SPECIFICATION, "new\n")],
        arguments: &[],
        code: 0,
        says: &["its specification changed"],
        then: &[(LAUNCH, "mine\n"), (SPECIFICATION, "new\n")],
    },
    Case {
        name: "an exercise that is no longer in the course leaves the answer",
        done: &[Edit(LATER, "mine\n")],
        course: &[(LATER, ""), ("exercises/day22/starter/later.cu", "")],
        arguments: &[],
        code: 0,
        says: &["later: its starter changed"],
        then: &[(LATER, "mine\n")],
    },
    Case {
        name: "a lesson that was edited in another place is no obstacle",
        done: &[Edit(LESSON, "one\ntwo\nthree\nmine\n")],
        course: NEW_STARTER,
        arguments: &[],
        code: 0,
        says: &["its starter changed"],
        then: &[(LESSON, "one\ntwo\nthree\nmine\n"), (ANSWER, "// TODO\nnew\n")],
    },
    Case {
        name: "one that the course changes as well stops it",
        done: &[Edit(LESSON, "mine\n"), Edit(ANSWER, "mine\n")],
        course: &[(LESSON, "theirs\n")],
        arguments: &[],
        code: 2,
        says: &["nothing was changed", "lessons/kernels.cu"],
        then: &[(LESSON, "mine\n"), (ANSWER, "mine\n")],
    },
    Case {
        name: "also where it was committed",
        done: &[Edit(LESSON, "mine\n"), Commit, Edit(ANSWER, "mine\n")],
        course: &[(LESSON, "theirs\n"), (ANSWER, "new\n"), (STARTER, "new\n")],
        arguments: &[],
        code: 2,
        says: &["these files were changed here and there: lessons/kernels.cu"],
        then: &[(LESSON, "mine\n"), (ANSWER, "mine\n"), (STARTER, "// TODO\nold\n")],
    },
    Case {
        name: "a dry run changes nothing",
        done: &[Edit(ANSWER, "mine\n")],
        course: NEW_STARTER,
        arguments: &["--dry-run"],
        code: 0,
        says: &["Nothing was changed", "yours stays"],
        then: &[(ANSWER, "mine\n"), (STARTER, "// TODO\nold\n")],
    },
    Case {
        name: "another branch",
        done: &[Git(&["branch", "--unset-upstream"])],
        course: NEW_STARTER,
        arguments: &["--from", "origin/main"],
        code: 0,
        says: &["origin/main now"],
        then: &[(ANSWER, "// TODO\nnew\n")],
    },
    Case {
        name: "a branch that follows no other",
        done: &[Git(&["branch", "--unset-upstream"])],
        course: NEW_STARTER,
        arguments: &[],
        code: 2,
        says: &["`--from origin/main`"],
        then: &[(ANSWER, "// TODO\nold\n")],
    },
    Case {
        name: "a remote that is not there",
        done: &[],
        course: NEW_STARTER,
        arguments: &["--from", "upstream/main"],
        code: 2,
        says: &["`upstream/main` is not a remote and its branch", "there is `origin`"],
        then: &[],
    },
    Case {
        name: "a branch that is not there",
        done: &[Edit(ANSWER, "mine\n")],
        course: NEW_STARTER,
        arguments: &["--from", "origin/nothing"],
        code: 2,
        says: &["cannot fetch nothing from origin, and nothing was changed"],
        then: &[(ANSWER, "mine\n")],
    },
    Case {
        name: "offline",
        done: &[Edit(ANSWER, "mine\n"), Offline],
        course: &[],
        arguments: &[],
        code: 2,
        says: &["cannot fetch main from origin, and nothing was changed"],
        then: &[(ANSWER, "mine\n")],
    },
    Case {
        name: "no branch",
        done: &[Edit(ANSWER, "mine\n"), Git(&["checkout", "--quiet", "--detach"])],
        course: NEW_STARTER,
        arguments: &["--from", "origin/main"],
        code: 2,
        says: &["git is on no branch (detached HEAD): `git switch main`"],
        then: &[(ANSWER, "mine\n")],
    },
    Case {
        name: "no history",
        done: &[Edit(ANSWER, "mine\n"), Archive],
        course: NEW_STARTER,
        arguments: &[],
        code: 2,
        says: &["this folder has no git history"],
        then: &[(ANSWER, "mine\n")],
    },
    Case {
        name: "nothing to undo",
        done: &[Edit(ANSWER, "mine\n")],
        course: NEW_STARTER,
        arguments: &["--undo"],
        code: 2,
        says: &["there was no update that could be undone"],
        then: &[(ANSWER, "mine\n")],
    },
];

/// A course and a clone of it.
struct Both {
    folder: TempDir,
}

impl Both {
    fn new() -> Self {
        let both = Self { folder: tempfile::tempdir().expect("a folder") };
        fs::create_dir(both.course()).expect("a folder");
        both.git("course", &["init", "--quiet", "--initial-branch=main"]);
        both.publish(COURSE);
        both.git(".", &["clone", "--quiet", "course", "clone"]);
        both
    }

    fn course(&self) -> PathBuf {
        self.folder.path().join("course")
    }

    fn clone(&self) -> PathBuf {
        self.folder.path().join("clone")
    }

    fn command(&self, program: &str, folder: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder.path().join(folder));
        // Nothing of this machine's own.
        let nowhere = self.folder.path().join("nothing");
        command.env("HOME", self.folder.path()).env("GIT_CONFIG_GLOBAL", &nowhere).env("GIT_CONFIG_NOSYSTEM", "1");
        command.env("GIT_CEILING_DIRECTORIES", self.folder.path()).env_remove("CARGO_MANIFEST_DIR");
        command
    }

    fn git(&self, folder: &str, arguments: &[&str]) {
        let who = ["-c", "user.name=test", "-c", "user.email=test@localhost"];
        let output = self.command("git", folder).args(who).args(arguments).output().expect("git runs");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }

    /// An empty text is a file that goes.
    fn publish(&self, files: &[(&str, &str)]) {
        for (path, text) in files {
            match text.is_empty() && self.course().join(path).exists() {
                true => fs::remove_file(self.course().join(path)).expect("a file"),
                false => write(&self.course().join(path), text),
            }
        }
        if !files.is_empty() {
            self.commit("course");
        }
    }

    fn commit(&self, folder: &str) {
        self.git(folder, &["add", "-A"]);
        self.git(folder, &["commit", "--quiet", "--allow-empty", "-m", "next"]);
    }

    fn update(&self, arguments: &[&str]) -> Output {
        self.command(env!("CARGO_BIN_EXE_xtask"), "clone").arg("update").args(arguments).output().expect("xtask runs")
    }

    fn act(&self, done: &Done) {
        let clone = self.clone();
        match done {
            Edit(path, text) => write(&clone.join(path), text),
            Remove(path) => fs::remove_file(clone.join(path)).expect("a file"),
            Commit => self.commit("clone"),
            Git(arguments) => self.git("clone", arguments),
            Offline => fs::rename(self.course(), self.folder.path().join("gone")).expect("a folder"),
            Archive => fs::remove_dir_all(clone.join(".git")).expect("a folder"),
        }
    }

    /// All files of the clone, but git's and the course's notes.
    fn files(&self) -> BTreeMap<PathBuf, String> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                let path = entry.path();
                match path.is_dir() {
                    true if [".git", ".course"].iter().any(|name| path.ends_with(name)) => {}
                    true => folders.push(path),
                    false => drop(files.insert(path.clone(), fs::read_to_string(path).expect("a text"))),
                }
            }
        }
        files
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("a file");
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn has_git() -> bool {
    let has = Command::new("git").arg("--version").output().is_ok();
    if !has {
        eprintln!("skipped: git is not installed");
    }
    has
}

#[test]
fn no_answer_is_lost() {
    for case in CASES.iter().filter(|_| has_git()) {
        let both = Both::new();
        case.done.iter().filter(|done| !matches!(done, Offline)).for_each(|done| both.act(done));
        both.publish(case.course);
        case.done.iter().filter(|done| matches!(done, Offline)).for_each(|done| both.act(done));
        let before = both.files();
        let output = both.update(case.arguments);
        let (name, said) = (case.name, said(&output));
        assert_eq!(output.status.code(), Some(case.code), "{name}: {said}");
        assert!(case.says.iter().all(|word| said.contains(word)), "{name}: {said}");
        for (path, text) in case.then {
            assert_eq!(
                fs::read_to_string(both.clone().join(path)).ok().as_deref(),
                Some(*text),
                "{name}: {path}\n{said}"
            );
        }
        let updated = said.contains("The course is that of");
        if !updated {
            assert_eq!(both.files(), before, "{name}: {said}");
            continue;
        }
        // Nothing of a merge is left, and what was there can be had again.
        let undone = both.update(&["--undo"]);
        assert_eq!(undone.status.code(), Some(0), "{name}: {}", String::from_utf8_lossy(&undone.stderr));
        let after = both.files();
        for (path, text) in &before {
            assert_eq!(after.get(path), Some(text), "{name}: {}", path.display());
        }
        assert_eq!(
            both.update(&[]).status.code().filter(|_| case.arguments.is_empty()),
            Some(0).filter(|_| case.arguments.is_empty()),
            "{name}"
        );
    }
}

#[test]
fn an_update_is_undone_only_where_nothing_stands_on_it() {
    if !has_git() {
        return;
    }
    let both = Both::new();
    both.act(&Edit(ANSWER, "mine\n"));
    both.publish(NEW_STARTER);
    assert_eq!(both.update(&[]).status.code(), Some(0));
    // Work that was done since is saved.
    both.act(&Edit(ANSWER, "since\n"));
    // What is refused leaves the way back open.
    both.act(&Edit(LESSON, "mine\n"));
    both.publish(&[(LESSON, "theirs\n")]);
    assert_eq!(both.update(&[]).status.code(), Some(2));
    assert_eq!(both.update(&["--undo"]).status.code(), Some(0));
    assert_eq!(fs::read_to_string(both.clone().join(ANSWER)).expect("a file"), "mine\n");
    assert_eq!(fs::read_to_string(both.clone().join(LESSON)).expect("a file"), "mine\n");
    let saved = Command::new("grep").args(["-rl", "since", ".course/saved"]).current_dir(both.clone()).output();
    assert!(saved.is_ok_and(|found| found.status.success()), "the work since is saved");
    both.act(&Edit(LESSON, "one\ntwo\nthree\n"));
    assert_eq!(both.update(&[]).status.code(), Some(0));
    both.commit("clone");
    let refused = both.update(&["--undo"]);
    assert!(
        refused.status.code() == Some(2) && said(&refused).contains("there are commits since the update"),
        "{refused:?}"
    );
    assert_eq!(fs::read_to_string(both.clone().join(ANSWER)).expect("a file"), "mine\n");
}
