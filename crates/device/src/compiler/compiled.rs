use std::path::Path;

use super::Diagnostic;

/// What NVRTC made of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiled {
    /// The source's name.
    pub name: String,
    /// The PTX, also beside machine code. Its line table has the sources' names as they were given.
    pub ptx: String,
    /// The ELF image for one architecture, when that was asked for.
    pub machine_code: Option<Vec<u8>>,
    /// 90 for compute capability 9.0.
    pub architecture: u32,
    /// Of NVRTC, major and minor.
    pub version: (u32, u32),
    /// Warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// NVRTC's log as it was; empty when there was nothing to say.
    pub log: String,
}

impl Compiled {
    /// The names of the kernels, in the order of the PTX: as written for `extern "C"`, mangled otherwise.
    pub fn kernels(&self) -> Vec<&str> {
        self.ptx.lines().filter_map(kernel).collect()
    }
}

/// The name in `.visible .entry name(`.
pub(super) fn kernel(line: &str) -> Option<&str> {
    let code = line.split("//").next().unwrap_or_default();
    let (_, name) = code.split_once(".entry ")?;
    let name = name.trim_start();
    let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || "_$%".contains(c))).unwrap_or(name.len());
    (end > 0).then(|| &name[..end])
}

/// NVRTC makes the names of its sources absolute as if they lay in the working directory. They are names, not files of
/// this machine, so the line table gets them back.
pub(super) fn with_plain_file_names(ptx: &str) -> String {
    match std::env::current_dir() {
        Ok(here) => without_directory(ptx, &here),
        Err(_) => ptx.to_owned(),
    }
}

fn without_directory(ptx: &str, directory: &Path) -> String {
    let directory = directory.to_string_lossy();
    let directory = directory.trim_end_matches(['/', '\\']);
    let mut out = String::with_capacity(ptx.len());
    for line in ptx.split_inclusive('\n') {
        match shortened(line, directory) {
            Some((before, name)) => {
                out += before;
                out += name;
            }
            None => out += line,
        }
    }
    out
}

/// Splits `.file 1 "/here/a.cu"` around the directory.
fn shortened<'a>(line: &'a str, directory: &str) -> Option<(&'a str, &'a str)> {
    if !line.trim_start().starts_with(".file") {
        return None;
    }
    let quote = line.find('"')? + 1;
    let (before, path) = line.split_at(quote);
    let name = path.strip_prefix(directory)?.strip_prefix(['/', '\\'])?;
    Some((before, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_the_entries() {
        let ptx = "\t// .globl\tk\n.visible .entry k(\n.entry _Z1aPf (\n.visible .func f(\n// .entry not_me(\n.weak .entry w\n";
        let found: Vec<&str> = ptx.lines().filter_map(kernel).collect();
        assert_eq!(found, ["k", "_Z1aPf", "w"]);
    }

    #[test]
    fn line_tables_keep_the_names_that_were_given() {
        let ptx = "\t.file\t1 \"/here/a/k.cu\"\n\t.file\t2 \"/hereafter/k.cu\"\nmov \"/here/a\"\n\t.file\t3 \"/elsewhere/x.h\"";
        let expected =
            "\t.file\t1 \"a/k.cu\"\n\t.file\t2 \"/hereafter/k.cu\"\nmov \"/here/a\"\n\t.file\t3 \"/elsewhere/x.h\"";
        assert_eq!(without_directory(ptx, Path::new("/here")), expected);
    }
}
