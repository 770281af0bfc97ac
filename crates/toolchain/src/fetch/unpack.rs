use std::fs::File;
use std::io::{self, BufReader, Read as _, Write as _};
use std::path::Path;

use zip::ZipArchive;

use super::wheels::Wheel;
use crate::manifest::{Entry, Manifest};
use crate::{FetchError, Progress};

/// Unpacks what the compiler needs from the wheels in `downloaded` into `tree`, and writes the manifest.
pub(super) fn wheels(
    downloaded: &Path,
    wheels: &[Wheel],
    tree: &Path,
    progress: &mut dyn Progress,
) -> Result<(), FetchError> {
    progress.start("unpacking", wheels.iter().map(|wheel| wheel.size).sum());
    let mut manifest = Manifest::default();
    let mut done = 0;
    let result = wheels.iter().try_for_each(|wheel| {
        one(downloaded, wheel, tree, &mut manifest, &mut |size| {
            done += size;
            progress.advance(done);
        })
    });
    progress.finish();
    result?;
    libraries_by_plain_name(tree, &manifest);
    manifest.write(tree).map_err(|error| FetchError::io(tree, error))
}

fn one(
    downloaded: &Path,
    wheel: &Wheel,
    tree: &Path,
    manifest: &mut Manifest,
    progress: &mut dyn FnMut(u64),
) -> Result<(), FetchError> {
    let fail = |why: String| FetchError::Unpack { wheel: format!("{}-{}", wheel.package, wheel.version), why };
    let prefix = wheel.file_prefix();
    let entries = std::fs::read_dir(downloaded).map_err(|error| FetchError::io(downloaded, error))?;
    let file = entries.flatten().find(|entry| entry.file_name().to_string_lossy().starts_with(&prefix));
    let path = file.ok_or_else(|| fail("pip did not download it".to_owned()))?.path();
    let reader = BufReader::new(File::open(&path).map_err(|error| FetchError::io(&path, error))?);
    let mut archive = ZipArchive::new(reader).map_err(|error| fail(error.to_string()))?;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(|error| fail(error.to_string()))?;
        progress(entry.compressed_size());
        let place = entry.name().ok().and_then(|name| place(&name, wheel));
        let Some(place) = place else { continue };
        let (crc32, size) = (entry.crc32(), entry.size());
        let target = tree.join(&place);
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent).map_err(|error| FetchError::io(parent, error))?;
        }
        let mut out = File::create(&target).map_err(|error| FetchError::io(&target, error))?;
        let mut buffer = vec![0; 1 << 18];
        loop {
            // The archive's reader checks the CRC at the end; what it finds wrong is the wheel's fault, what the writer
            // finds wrong is the disk's.
            let count = entry.read(&mut buffer).map_err(|error| fail(format!("{place}: {error}")))?;
            if count == 0 {
                break;
            }
            out.write_all(&buffer[..count]).map_err(|error| FetchError::io(&target, error))?;
        }
        manifest.files.push(Entry { crc32, size, path: place });
    }
    Ok(())
}

/// Where a file of a wheel goes, with `/`; `None` for what the compiler does not need (static libraries, the run-time
/// library, CMake files, a second NVRTC built for older C++ ABIs). Headers that lie in a directory of their own keep it.
fn place(name: &str, wheel: &Wheel) -> Option<String> {
    // Wheels hold plain relative names; one that climbs out of its directory is not ours to follow.
    if name.ends_with('/') || name.contains('\\') || name.split('/').any(|part| part == ".." || part.is_empty()) {
        return None;
    }
    if name.ends_with(".dist-info/licenses/License.txt") {
        return Some(format!("LICENSE-{}.txt", wheel.package));
    }
    let inside = name.strip_prefix("nvidia/cu13/")?;
    if inside.starts_with("include/") {
        return Some(inside.to_owned());
    }
    let file = inside.rsplit('/').next()?;
    let wanted = file.starts_with("libnvrtc") || file.starts_with("nvrtc");
    let library = file.contains(".so.") || file.ends_with(".dll");
    (wanted && library && !file.contains(".alt.")).then(|| format!("lib/{file}"))
}

/// Adds `lib/libnvrtc.so`, so that other programs find this NVRTC with `LD_LIBRARY_PATH`. A convenience: not in the
/// manifest, and no error where links cannot be made.
fn libraries_by_plain_name(tree: &Path, manifest: &Manifest) {
    #[cfg(unix)]
    for Entry { path, .. } in &manifest.files {
        if let Some(name) = path.strip_prefix("lib/").filter(|name| name.starts_with("libnvrtc.so.")) {
            let _: io::Result<()> = std::os::unix::fs::symlink(name, tree.join("lib/libnvrtc.so"));
        }
    }
    #[cfg(not(unix))]
    let _: (&Path, &Manifest, Option<io::Error>) = (tree, manifest, None);
}
