//! What a module image is, and the PTX in it: text by itself, or a fat binary as `nvcc` puts it into programs.
//!
//! NVIDIA documents the fat binary's outer wrapper (`fatbinary_section.h`) and keeps the container to itself; what is read of it here is
//! what `nvcc` 11 to 13 write: a header of 16 bytes, then entries with a header, PTX or machine code for one architecture each, plain,
//! or compressed by LZ4 or Zstandard.

use std::io::Read as _;

use fusion_ptx::Unit;

use crate::boundary::Raw;
use crate::error::{Error, Result};
use crate::peek;

/// The wrapper's magic number, and the container's.
const WRAPPER: u32 = 0x466243b1;
const CONTAINER: u32 = 0xba55ed50;
/// The version of a wrapper whose units are yet to be linked (`FATBINC_LINK_VERSION`), and how many there are at most.
const SEPARATE: u32 = 2;
const MOST_UNITS: usize = 1 << 16;
const HEADER: usize = 16;
/// Offsets within an entry, and the least size of its header.
const ENTRY: usize = 64;
const KIND: usize = 0;
const HEADER_SIZE: usize = 4;
const PAYLOAD_SIZE: usize = 8;
const COMPRESSED_SIZE: usize = 16;
const ARCHITECTURE: usize = 28;
const FLAGS: usize = 40;
const FULL_SIZE: usize = 56;
/// Kinds of entries.
const PTX: u16 = 1;
/// Flags of entries.
const SIXTY_FOUR_BIT: u64 = 0x1;
const LZ4: u64 = 0x2000;
const ZSTANDARD: u64 = 0x8000;
/// No image is larger: a size beyond it is damage.
const LARGEST: u64 = 1 << 30;

/// Why an image holds no PTX that can be had: a sentence.
pub(crate) type Refused = String;

/// The PTX of an image in memory, whose size nobody states.
pub(crate) fn at(image: Raw, capability: u32) -> Result<std::result::Result<String, Refused>> {
    let mut start = [0; 4];
    for (i, byte) in start.iter_mut().enumerate() {
        *byte = Raw(image.0 + i).as_in::<u8>().get().map_err(|_| Error::INVALID_VALUE)?;
        // Nothing may be read behind the end of a text.
        if *byte == 0 {
            break;
        }
    }
    match u32::from_le_bytes(start) {
        WRAPPER => {
            let word = |at: usize| Raw(image.0 + at).as_in::<usize>().get();
            match Raw(image.0 + 4).as_in::<u32>().get()? {
                SEPARATE => linked(word(16)?, capability),
                _ => at_container(Raw(word(8)?), capability),
            }
        }
        CONTAINER => at_container(image, capability),
        _ => match machine_code(&start) {
            Some(what) => Ok(Err(ptx_wanted(what))),
            None => Ok(Ok(image.as_text().get()?)),
        },
    }
}

/// The PTX of a program whose units `nvcc -rdc=true` has compiled apart: a list of containers that ends with null, linked as NVIDIA's
/// runtime would have the driver link them.
fn linked(list: usize, capability: u32) -> Result<std::result::Result<String, Refused>> {
    let mut texts = Vec::new();
    for i in 0..MOST_UNITS {
        let container = Raw(list + i * size_of::<usize>()).as_in::<Raw>().get()?;
        if container.is_null() {
            break;
        }
        match at_container(container, capability)? {
            Ok(text) => texts.push((format!("unit {}", i + 1), text)),
            Err(refused) => return Ok(Err(refused)),
        }
    }
    let units: Vec<Unit<'_>> = texts.iter().map(|(name, text)| Unit { name, text }).collect();
    Ok(fusion_ptx::link(&units).map_err(|errors| errors.join("\n")))
}

fn at_container(container: Raw, capability: u32) -> Result<std::result::Result<String, Refused>> {
    let read = |len: usize| peek::read(&[(container.0, len)]).map_err(|_| Error::INVALID_IMAGE);
    let size = field::<8>(&read(HEADER)?, 8).map_or(0, u64::from_le_bytes);
    if size > LARGEST {
        return Ok(Err(damaged()));
    }
    Ok(of(&read(HEADER + size as usize)?, capability))
}

/// The PTX of an image whose bytes are known: of a fat binary the newest that the device runs.
pub(crate) fn of(bytes: &[u8], capability: u32) -> std::result::Result<String, Refused> {
    if let Some(what) = machine_code(bytes) {
        return Err(ptx_wanted(what));
    }
    if field::<4>(bytes, 0).map(u32::from_le_bytes) != Some(CONTAINER) {
        return Ok(until_nul(bytes));
    }
    let (mut found, mut at) = (Vec::new(), HEADER);
    let mut entries = 0;
    while let Some(entry) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let header = field::<4>(entry, HEADER_SIZE).map_or(0, u32::from_le_bytes) as usize;
        let size = field::<8>(entry, PAYLOAD_SIZE).map_or(u64::MAX, u64::from_le_bytes);
        let payload = entry.get(header..).filter(|rest| header >= ENTRY && size <= rest.len() as u64);
        let payload = &payload.ok_or_else(damaged)?[..size as usize];
        if field::<2>(entry, KIND).map(u16::from_le_bytes) == Some(PTX) {
            found.push((field::<4>(entry, ARCHITECTURE).map_or(0, u32::from_le_bytes), entry, payload));
        }
        entries += 1;
        at += header + size as usize;
    }
    // None that the device runs: the load will say what the oldest is for.
    let runs = found.iter().filter(|(architecture, ..)| *architecture <= capability);
    let best = runs.max_by_key(|(architecture, ..)| *architecture).or(found.iter().min_by_key(|entry| entry.0));
    match best {
        Some((_, entry, payload)) => text(entry, payload),
        None if entries == 0 => Err("the image is an empty fat binary".to_owned()),
        None => Err(ptx_wanted("a fat binary of machine code only")),
    }
}

/// A fat binary of one PTX text.
pub(crate) fn containing(ptx: &str, architecture: u32) -> Vec<u8> {
    let size = (ptx.len() + 1).next_multiple_of(8);
    let mut bytes = vec![0; HEADER + ENTRY + size];
    let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
    put(0, &CONTAINER.to_le_bytes());
    put(4, &1u16.to_le_bytes());
    put(6, &(HEADER as u16).to_le_bytes());
    put(8, &((ENTRY + size) as u64).to_le_bytes());
    put(HEADER + KIND, &PTX.to_le_bytes());
    put(HEADER + HEADER_SIZE, &(ENTRY as u32).to_le_bytes());
    put(HEADER + PAYLOAD_SIZE, &(size as u64).to_le_bytes());
    put(HEADER + ARCHITECTURE, &architecture.to_le_bytes());
    put(HEADER + FLAGS, &SIXTY_FOUR_BIT.to_le_bytes());
    put(HEADER + ENTRY, ptx.as_bytes());
    bytes
}

/// The text of an entry, whole again when it is compressed.
fn text(entry: &[u8], payload: &[u8]) -> std::result::Result<String, Refused> {
    let flags = field::<8>(entry, FLAGS).map_or(0, u64::from_le_bytes);
    if flags & (LZ4 | ZSTANDARD) == 0 {
        return Ok(until_nul(payload));
    }
    let compressed = field::<4>(entry, COMPRESSED_SIZE).map_or(0, u32::from_le_bytes) as usize;
    let compressed = payload.get(..compressed).ok_or_else(damaged)?;
    let full =
        field::<8>(entry, FULL_SIZE).map(u64::from_le_bytes).filter(|size| *size <= LARGEST).ok_or_else(damaged)?;
    let bytes = if flags & LZ4 != 0 {
        lz4_flex::block::decompress(compressed, full as usize).map_err(|_| damaged())?
    } else {
        let mut bytes = Vec::new();
        let decoder = ruzstd::decoding::StreamingDecoder::new(compressed).map_err(|_| damaged())?;
        decoder.take(full).read_to_end(&mut bytes).map_err(|_| damaged())?;
        bytes
    };
    Ok(until_nul(&bytes))
}

/// What an image is when it holds no PTX: these formats begin with bytes that no PTX begins with.
fn machine_code(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x7f, b'E', b'L', b'F', ..] => Some("a cubin, which is machine code"),
        [0xed, 0x43, 0x4e, 0x7f, ..] => Some("LTO-IR"),
        [b'B', b'C', 0xc0, 0xde, ..] => Some("NVVM bitcode"),
        [b'!', b'<', b'a', b'r', ..] => Some("a library of object files"),
        _ => None,
    }
}

fn ptx_wanted(what: &str) -> Refused {
    format!(
        "the image is {what}; the emulated GPU runs PTX only: compile to PTX, with nvcc by \
         `-gencode arch=compute_90,code=compute_90`, with NVRTC by `--gpu-architecture=compute_90`; for numba-cuda, uninstall nvidia-nvjitlink: without it, numba-cuda hands over PTX"
    )
}

fn damaged() -> Refused {
    "the image is a fat binary that is damaged".to_owned()
}

fn until_nul(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned()
}

fn field<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = ".version 8.0 .target sm_75 // twice twice twice twice twice twice twice twice";

    /// A fat binary of PTX entries: architecture, flags, payload as it stands, size of the text.
    fn fat(entries: &[(u32, u64, Vec<u8>)]) -> Vec<u8> {
        let mut bytes = containing("", 0)[..HEADER].to_vec();
        for (architecture, flags, payload) in entries {
            let mut entry = containing("", *architecture)[HEADER..HEADER + ENTRY].to_vec();
            entry[PAYLOAD_SIZE..][..8].copy_from_slice(&(payload.len() as u64).to_le_bytes());
            entry[COMPRESSED_SIZE..][..4].copy_from_slice(&(payload.len() as u32).to_le_bytes());
            entry[FLAGS..][..8].copy_from_slice(&flags.to_le_bytes());
            entry[FULL_SIZE..][..8].copy_from_slice(&(TEXT.len() as u64).to_le_bytes());
            bytes.extend(entry);
            bytes.extend(payload);
        }
        let size = (bytes.len() - HEADER) as u64;
        bytes[8..16].copy_from_slice(&size.to_le_bytes());
        bytes
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        assert_eq!(of(&containing(TEXT, 75), 90), Ok(TEXT.to_owned()));
        let lz4 = lz4_flex::block::compress(TEXT.as_bytes());
        let fastest = ruzstd::encoding::CompressionLevel::Fastest;
        let zstandard = ruzstd::encoding::compress_to_vec(TEXT.as_bytes(), fastest);
        assert_eq!(of(&fat(&[(75, LZ4, lz4)]), 90), Ok(TEXT.to_owned()));
        assert_eq!(of(&fat(&[(75, ZSTANDARD, zstandard)]), 90), Ok(TEXT.to_owned()));
    }

    #[test]
    fn the_newest_that_runs_is_taken() {
        let entry = |architecture: u32| (architecture, 0, format!("for {architecture}").into_bytes());
        let image = fat(&[entry(100), entry(75), entry(80)]);
        assert_eq!(of(&image, 90), Ok("for 80".to_owned()));
        assert_eq!(of(&image, 75), Ok("for 75".to_owned()));
        assert_eq!(of(&image, 52), Ok("for 75".to_owned()));
        let mut cubin = fat(&[entry(90)]);
        cubin[HEADER] = 2;
        assert!(of(&cubin, 90).unwrap_err().contains("code=compute_90"));
        assert!(of(b"\x7fELF", 90).unwrap_err().contains("a cubin"));
    }

    #[test]
    fn a_fat_binary_cut_or_changed_anywhere_is_answered() {
        let whole = fat(&[(75, LZ4, lz4_flex::block::compress(TEXT.as_bytes())), (80, ZSTANDARD, vec![1; 40])]);
        for end in 5..whole.len() {
            let _ = of(&whole[..end], 90);
            for byte in [0, 0xff, whole[end] ^ 0x80] {
                let mut changed = whole.clone();
                changed[end] = byte;
                let _ = of(&changed, 90);
            }
        }
        assert!(of(&whole, 90).is_err());
    }
}
