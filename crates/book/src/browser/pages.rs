//! The pages of a built book.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::Failure;

/// The page with all chapters in one, for paper.
pub(crate) const PRINT: &str = "print.html";

/// Pages that are no pages by themselves: the list of chapters for browsers without scripts, which stands in a frame of the others, and the one that
/// a server shows for an address that is wrong, whose links are those of a server.
const PARTS: [&str; 2] = ["toc.html", "404.html"];
/// Formulas, which pages take in.
const FORMULAS: &str = "formulas/";

/// A built book: where it is and what is in it.
#[derive(Debug)]
pub(crate) struct Pages {
    folder: PathBuf,
    base: String,
    files: BTreeSet<String>,
}

impl Pages {
    pub(crate) fn of(folder: &Path) -> Result<Pages, Failure> {
        let folder = folder.canonicalize().map_err(|error| format!("cannot find {}: {error}", folder.display()))?;
        let mut files = BTreeSet::new();
        collect(&folder, "", &mut files);
        let base = format!("file://{}/", folder.display());
        let pages = Pages { folder, base, files };
        if pages.names().next().is_none() {
            return Err(format!("mdbook made no pages in {}", pages.folder.display()));
        }
        Ok(pages)
    }

    /// The pages, by their path in the book.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let page = |file: &&str| file.ends_with(".html") && !PARTS.contains(file) && !file.starts_with(FORMULAS);
        self.files.iter().map(String::as_str).filter(page)
    }

    /// What every address in the book begins with.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// Whether the book has the file.
    pub(crate) fn has(&self, file: &str) -> bool {
        self.files.contains(file)
    }
}

fn collect(folder: &Path, path: &str, files: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let inside = if path.is_empty() { name } else { format!("{path}/{name}") };
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect(&entry.path(), &inside, files);
        } else {
            files.insert(inside);
        }
    }
}
