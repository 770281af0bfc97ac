//! The course's own CUDA sources, as they lie in its folder.

use std::io;
use std::path::Path;

use fusion_device::Source;

/// Where kernels are; a star stands for every folder of a name that begins so.
const FOLDERS: [&str; 7] = [
    "kernels/unfused",
    "kernels/rivals",
    "kernels/ladders",
    "kernels/gemm",
    "solutions/day*/src",
    "solutions/day*/top",
    "lessons/*/src",
];
const HEADERS: &str = "kernels/include";

/// A file and what it is called in messages: its path in the course, or for a header its name.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) name: String,
    pub(super) text: String,
}

impl File {
    pub(super) fn as_source(&self) -> Source<'_> {
        Source { name: &self.name, text: &self.text }
    }
}

/// The headers that the kernels include.
pub(super) fn headers(root: &Path) -> io::Result<Vec<File>> {
    files(root, HEADERS, ".cuh", false)
}

/// The sources with kernels in them, those of each folder in the order of their names.
pub(super) fn kernels(root: &Path) -> io::Result<Vec<File>> {
    let mut found = files(root, "kernels", ".cu", true)?;
    for folder in FOLDERS {
        match folder.split_once('*') {
            None => found.extend(files(root, folder, ".cu", true)?),
            Some((before, after)) => {
                let (parent, prefix) = before.rsplit_once('/').unwrap_or(("", before));
                let every = names(&root.join(parent))?.into_iter().filter(|name| name.starts_with(prefix));
                // Not every day has a top rung.
                for folder in every.map(|name| format!("{parent}/{name}{after}")).filter(|it| root.join(it).is_dir()) {
                    found.extend(files(root, &folder, ".cu", true)?);
                }
            }
        }
    }
    Ok(found)
}

/// The files of a folder with this ending.
fn files(root: &Path, folder: &str, ending: &str, with_path: bool) -> io::Result<Vec<File>> {
    let mut found = Vec::new();
    for name in names(&root.join(folder))?.into_iter().filter(|name| name.ends_with(ending)) {
        let text = std::fs::read_to_string(root.join(folder).join(&name))?;
        found.push(File { name: if with_path { format!("{folder}/{name}") } else { name }, text });
    }
    Ok(found)
}

fn names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", folder.display())))?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<io::Result<_>>()?;
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_kernel_is_found() {
        let root = crate::programs::workspace_root().unwrap();
        let found: Vec<String> = kernels(&root).unwrap().into_iter().map(|file| file.name).collect();
        for wanted in [
            "kernels/timing.cu",
            "kernels/unfused/rows.cu",
            "kernels/ladders/softmax.cu",
            "solutions/day22/src/add_gelu.cu",
            "solutions/day23/top/softmax.cu",
            "lessons/occupancy/src/kernels.cu",
        ] {
            assert!(found.iter().any(|name| name == wanted), "{wanted}");
        }
        assert!(found.iter().all(|name| !name.contains("/wrong/")));
        assert!(headers(&root).unwrap().iter().any(|header| header.name == "reduce.cuh"));
    }
}
