//! `watch` in a real terminal, which tmux is: what is typed, what is seen, and what is left when it has ended.
#![cfg(unix)]

mod common;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::{Checkout, PASS, Prebuilt};

/// So long something is waited for on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(60);

/// A terminal of its own server, in which a command runs and says how it ended.
struct Terminal {
    checkout: Checkout,
}

/// What is printed before and after the command: it must still be there, and again be there.
const BEFORE: &str = "before-it";
const AFTER: &str = "ended-with";

impl Terminal {
    /// None, and a line that says so, where there is no tmux.
    fn watch(arguments: &str) -> Option<Self> {
        if Command::new("tmux").arg("-V").output().is_err() {
            eprintln!("skipped: tmux is not installed, in which `watch` would be driven");
            return None;
        }
        let terminal = Self { checkout: Checkout::new() };
        let xtask = terminal.checkout.command(&[]).get_program().to_string_lossy().into_owned();
        let compiler = terminal.checkout.compiler();
        let shell = format!(
            "export FUSION_NVRTC='{}'; unset CARGO CARGO_MANIFEST_DIR COLUMNS; echo {BEFORE}; \
             '{xtask}' watch {arguments} --prebuilt --device emulated; echo {AFTER} $?; stty -a | grep -o ' -\\?echo '; exec sleep 1000",
            compiler.display()
        );
        let root = terminal.checkout.root();
        let started =
            terminal.tmux(&["new-session", "-d", "-x", "100", "-y", "30", "-c", &root.to_string_lossy(), &shell]);
        assert!(started.status.success(), "{started:?}");
        Some(terminal)
    }

    fn tmux(&self, arguments: &[&str]) -> Output {
        let socket = self.checkout.root().join("tmux");
        let mut command = Command::new("tmux");
        command.arg("-f/dev/null").arg("-S").arg(socket).args(arguments).env_remove("TMUX").env("LC_ALL", "C.UTF-8");
        command.output().expect("tmux runs")
    }

    fn press(&self, keys: &str) {
        assert!(self.tmux(&["send-keys", keys]).status.success());
    }

    fn screen(&self) -> String {
        String::from_utf8_lossy(&self.tmux(&["capture-pane", "-p"]).stdout).into_owned()
    }

    /// Waits until all of this is seen at once.
    fn see(&self, words: &[&str]) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let screen = self.screen();
            if words.iter().all(|word| screen.contains(word)) {
                return screen;
            }
            assert!(Instant::now() < deadline, "{words:?} are not seen:\n{screen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The screen is what it was before, and echoes what is typed.
    fn ended(&self, code: u8) {
        let screen = self.see(&[BEFORE, &format!("{AFTER} {code}\n"), " echo"]);
        assert!(!screen.contains("mul_add") && !screen.contains("q quit"), "{screen}");
        let cursor = self.tmux(&["display-message", "-p", "#{cursor_flag} #{alternate_on}"]);
        assert_eq!(String::from_utf8_lossy(&cursor.stdout).trim(), "1 0");
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

#[test]
fn edit_fail_hint_fix_pass_next_quit() {
    let Some(terminal) = Terminal::watch("") else { return };
    let checkout = &terminal.checkout;
    terminal.see(&["average  (x + y) / 2", "fail: exercises/day21/src/average.cu", "q quit"]);
    terminal.press("h");
    terminal.see(&["hint 1 of 3"]);
    terminal.press("h");
    terminal.see(&["hint 2 of 3"]);
    checkout.edit("average", "wrong\n");
    // An edit brings the report back.
    terminal.see(&["out[0] = 1, and 2 is right", "begun"]);
    terminal.press("e");
    terminal.see(&["values: a finding of the grader"]);
    terminal.press("d");
    terminal.see(&["+++ exercises/day21/src/average.cu", "+wrong"]);
    terminal.press("n");
    terminal.see(&["average is not done yet; n again goes on to mul_add"]);
    checkout.edit("average", "right\n");
    terminal.see(&["pass: n goes on to mul_add", "e explains it"]);
    // What the kernel became, beside the solution's.
    terminal.press("e");
    terminal.see(&["average: what your kernel became", "the solution", "registers per thread", "bound by memory"]);
    terminal.press("l");
    terminal.see(&["passed", "mul_add <-"]);
    terminal.press("Escape");
    terminal.press("n");
    terminal.see(&["mul_add  q * k + v", "fail: exercises/day22/src/mul_add.cu"]);
    terminal.press("q");
    terminal.ended(0);
}

#[test]
fn a_compile_error_and_a_kernel_that_does_not_end() {
    let Some(terminal) = Terminal::watch("mul_add --timeout 300") else { return };
    let checkout = &terminal.checkout;
    terminal.see(&["fail: "]);
    checkout.edit("mul_add", "syntax");
    terminal.see(&["error[compile]: expected a `;`"]);
    checkout.edit("mul_add", "forever");
    terminal.see(&["grading ... 1 s"]);
    // The newest wins, long before the limit.
    checkout.edit("mul_add", "right");
    terminal.see(&["pass: "]);
    checkout.edit("mul_add", "forever again");
    terminal.see(&["grading ..."]);
    terminal.press("C-c");
    terminal.ended(130);
}

#[test]
fn a_limit_ends_a_kernel_that_does_not() {
    let Some(terminal) = Terminal::watch("mul_add --timeout 1") else { return };
    terminal.see(&["fail: "]);
    terminal.checkout.edit("mul_add", "forever");
    terminal.see(&["error[timeout]: stopped after 1 s"]);
    terminal.press("q");
    terminal.ended(0);
}

#[test]
fn a_reset_asks_first() {
    let Some(terminal) = Terminal::watch("mul_add") else { return };
    let answer = || fs::read_to_string(terminal.checkout.answer("mul_add")).expect("a file");
    terminal.checkout.edit("mul_add", "wrong");
    terminal.see(&["begun"]);
    terminal.press("r");
    terminal.see(&["y: yes, any other key: no"]);
    terminal.press("x");
    terminal.see(&["fail: "]);
    assert_eq!(answer(), "wrong");
    terminal.press("r");
    terminal.see(&["y: yes, any other key: no"]);
    terminal.press("y");
    terminal.see(&["mul_add is as it was at first. Your work is in .course/saved/mul_add/"]);
    // The starter is graded, and says that it is one.
    let deadline = Instant::now() + PATIENCE;
    while !answer().contains("TODO") {
        assert!(Instant::now() < deadline, "{}", terminal.screen());
        std::thread::sleep(Duration::from_millis(20));
    }
    terminal.press("q");
    terminal.ended(0);
}

#[test]
fn the_screen_follows_the_terminals_size() {
    let Some(terminal) = Terminal::watch("mul_add") else { return };
    terminal.see(&["fail: ", "q quit"]);
    for (columns, rows) in [("40", "12"), ("120", "40"), ("10", "4"), ("2", "1"), ("100", "30")] {
        let resized = terminal.tmux(&["resize-window", "-x", columns, "-y", rows]);
        assert!(resized.status.success(), "{resized:?}");
        if rows.len() > 1 {
            terminal.see(&["mul_add  q", "n next"]);
            assert!(terminal.screen().lines().all(|line| line.chars().count() <= columns.parse().expect("a number")));
        }
    }
    // The list has more lines than fit: it opens where you are, and its end is to be had.
    terminal.press("l");
    terminal.see(&["mul_add <-", "average"]);
    terminal.press("End");
    let last = fusion_course::days().last().and_then(|day| day.exercises.last()).expect("the course has exercises");
    terminal.see(&[last.name]);
    terminal.press("q");
    terminal.ended(0);
}

#[test]
fn a_request_to_end_gives_the_terminal_back() {
    let Some(terminal) = Terminal::watch("mul_add") else { return };
    terminal.see(&["fail: "]);
    let shell = String::from_utf8_lossy(&terminal.tmux(&["list-panes", "-F", "#{pane_pid}"]).stdout).trim().to_owned();
    // What the shell runs is the only child that it has.
    let children = fs::read_to_string(format!("/proc/{shell}/task/{shell}/children"));
    let Ok(child) = children.map(|text| text.trim().to_owned()) else { return };
    assert!(Command::new("kill").args(["-TERM", &child]).status().expect("kill runs").success());
    terminal.ended(130);
}

#[test]
fn without_a_terminal_there_are_lines() {
    let checkout = Checkout::new();
    let mut command = checkout.command(&["watch", "mul_add", "--prebuilt", "--device", "emulated"]);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("xtask runs");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
    let mut see = |word: &str| assert!(lines.any(|line| line.contains(word)), "{word}");
    see("Watching mul_add: q * k + v");
    see("0 of 1 passed, 1 failed.");
    checkout.edit("mul_add", "right");
    see("-- grading mul_add");
    see("1 of 1 passed.");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs").success());
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
}

#[test]
fn a_wrong_target_is_told_its_neighbours() {
    let output = Checkout::new().run(&["watch", "mul_ad"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("did you mean `mul_add`"), "{output:?}");
    let elsewhere = Prebuilt::new(PASS).run(&["watch"]);
    assert!(String::from_utf8_lossy(&elsewhere.stderr).contains("not run inside the course's folder"), "{elsewhere:?}");
}
