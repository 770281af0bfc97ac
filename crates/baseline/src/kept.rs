//! What was made of the course's own kernels, kept beside the compiler that made it: each process that judges needs a dozen of their sources,
//! which takes seconds to compile, and they seldom change.

use std::fs;
use std::hash::{DefaultHasher, Hasher as _};
use std::path::{Path, PathBuf};

use fusion_course::Source;
use fusion_device::{CompileError, Compiled, Compiler, Options, Source as Text};
use fusion_toolchain::Cache;

/// The PTX of a source for a device of this compute capability (90 for 9.0): what was kept of it, else what the compiler makes.
///
/// # Errors
/// As [`Compiler::ptx`]'s.
pub(crate) fn ptx(compiler: &Compiler, source: &Source, capability: u32) -> Result<Compiled, CompileError> {
    let file = file(compiler, source, capability);
    if let Some(kept) = file.as_deref().and_then(|file| read(file, compiler, source)) {
        return Ok(kept);
    }
    let text = Text { name: &source.path, text: &source.text };
    let compiled = compiler.ptx(&text, &crate::includes(), capability, &Options::default())?;
    // What was warned of is said again, and where nothing can be written, nothing is kept.
    if let Some(file) = file.filter(|_| compiled.log.is_empty()) {
        let _kept = write(&file, &compiled);
    }
    Ok(compiled)
}

/// Its name tells of all that the PTX depends on. None where the compiler is not the one that was fetched: another may be replaced by one
/// of the same name.
fn file(compiler: &Compiler, source: &Source, capability: u32) -> Option<PathBuf> {
    let folder = Cache::from_env()?.directory();
    if !compiler.path().starts_with(&folder) {
        return None;
    }
    let text = Text { name: &source.path, text: &source.text };
    let recipe = compiler.recipe(&text, &crate::includes(), capability, &Options::default());
    let all = (&source.path, &source.text, crate::headers(), recipe);
    Some(folder.join("kernels").join(format!("{:016x}.ptx", hash(&all))))
}

fn hash(value: &impl std::hash::Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The first line has the architecture and a hash of the rest.
fn write(file: &Path, compiled: &Compiled) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    // Others read at the same time: it is there at once and whole.
    let own = file.with_extension(std::process::id().to_string());
    let Compiled { ptx, architecture, .. } = compiled;
    fs::write(&own, format!("{architecture} {:016x}\n{ptx}", hash(ptx)))?;
    fs::rename(&own, file).or_else(|error| fs::remove_file(&own).and(Err(error)))
}

fn read(file: &Path, compiler: &Compiler, source: &Source) -> Option<Compiled> {
    let text = fs::read_to_string(file).ok()?;
    let (head, ptx) = text.split_once('\n')?;
    let (architecture, sum) = head.split_once(' ')?;
    let ptx = ptx.to_owned();
    if u64::from_str_radix(sum, 16) != Ok(hash(&ptx)) {
        return None;
    }
    Some(Compiled {
        name: source.path.clone(),
        ptx,
        machine_code: None,
        architecture: architecture.parse().ok()?,
        version: compiler.version(),
        diagnostics: Vec::new(),
        log: String::new(),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn what_is_kept_is_what_the_compiler_makes() {
        let compiler = Compiler::open(&fusion_toolchain::find().unwrap()).unwrap();
        let folder = std::env::temp_dir().join(format!("fusion-kept-{}", std::process::id()));
        let file = folder.join("a.ptx");
        for source in crate::unfused() {
            let text = Text { name: &source.path, text: &source.text };
            let made = compiler.ptx(&text, &crate::includes(), 90, &Options::default()).unwrap();
            // Else it is compiled each time.
            assert_eq!(made.log, "", "{}", source.path);
            write(&file, &made).unwrap();
            assert_eq!(read(&file, &compiler, &source).as_ref(), Some(&made));
            assert_eq!(ptx(&compiler, &source, 90).unwrap(), made);
            assert_eq!(ptx(&compiler, &source, 90).unwrap(), made);
        }
        // What is cut short or altered is not taken.
        let source = &crate::unfused()[0];
        let whole = fs::read_to_string(&file).unwrap();
        for damaged in [&whole[..whole.len() - 1], &whole.replacen("add", "sub", 1), "", "90"] {
            fs::write(&file, damaged).unwrap();
            assert_eq!(read(&file, &compiler, source), None);
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn another_text_is_another_file() {
        let compiler = Compiler::open(&fusion_toolchain::find().unwrap()).unwrap();
        let source = Source { path: "a.cu".to_owned(), text: "1".to_owned() };
        let other = Source { text: "2".to_owned(), ..source.clone() };
        let Some(first) = file(&compiler, &source, 90) else { return };
        assert_eq!(file(&compiler, &source, 90).as_ref(), Some(&first));
        assert_ne!(file(&compiler, &other, 90).as_ref(), Some(&first));
        assert_ne!(file(&compiler, &source, 80).as_ref(), Some(&first));
    }
}
