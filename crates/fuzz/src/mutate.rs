//! Damage: of bytes, of words, of numbers, of lines, of two texts at once.

use fastrand::Rng;

/// Numbers at which something may turn over.
pub(crate) const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "4",
    "7",
    "8",
    "15",
    "16",
    "17",
    "31",
    "32",
    "33",
    "63",
    "64",
    "65",
    "127",
    "128",
    "255",
    "256",
    "1023",
    "1024",
    "1025",
    "32767",
    "32768",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "-1",
    "-2",
    "-32",
    "-2147483648",
    "-9223372036854775808",
    "0x0",
    "0xffffffff",
    "0xffffffffffffffff",
    "0f00000000",
    "0f7F800000",
    "0f7FC00000",
    "0fFF800000",
    "0f00000001",
    "0f80000000",
    "0d7FF0000000000000",
    "0d0000000000000001",
    "1.0",
    "1e400",
];

/// Words of the language, and characters that are none of its.
const WORDS: &str = "{ } ( ) [ ] ; , : | @ ! - % . < > _ = ~ ? \" /* // \\ .reg .param .shared .global .local .const \
    .b8 .b16 .b32 .b64 .b128 .f16 .f16x2 .bf16 .f32 .f64 .u8 .s8 .u64 .pred .v2 .v4 .v8 .align .entry .func .extern \
    .visible .weak .common .maxntid .reqntid .maxnreg .noreturn .loc .file .section .pragma .branchtargets .calltargets \
    .callprototype .wide .hi .lo .sat .ftz .rn .rz .approx .sync .aligned .volatile .relaxed .acquire .release .gpu .sys \
    .cta .cluster generic %tid.x %ctaid.y %laneid %clock64 %envreg3 %pm0 %SP WARP_SZ ret exit trap bra call brx.idx \
    bar.sync barrier.sync shfl.sync.bfly.b32 vote.sync.any.pred \u{e9} \u{feff}";

fn word(rng: &mut Rng) -> &'static str {
    match rng.u32(0..40) {
        0 => ["\t", "\r\n", "\u{2028}"][rng.usize(..3)],
        _ => rng.choice(WORDS.split_ascii_whitespace().collect::<Vec<_>>()).unwrap_or(";"),
    }
}

/// Changes a text a little, in place. `other` lends lines and words.
pub fn mutate(rng: &mut Rng, ptx: &mut Vec<u8>, other: &[u8]) {
    for _ in 0..rng.usize(1..6) {
        match rng.u32(0..20) {
            0 => bytes(rng, ptx),
            1 => {
                // Cut off.
                let end = rng.usize(0..=ptx.len());
                ptx.truncate(end);
            }
            2..=9 => lines(rng, ptx, other),
            10..=14 => numbers(rng, ptx),
            _ => words(rng, ptx, other),
        }
    }
}

/// The head of one text and the tail of another, cut at lines.
pub fn splice(rng: &mut Rng, a: &[u8], b: &[u8]) -> Vec<u8> {
    let cut = |rng: &mut Rng, text: &[u8]| {
        let ends: Vec<usize> = text.iter().enumerate().filter(|(_, c)| **c == b'\n').map(|(i, _)| i + 1).collect();
        rng.choice(ends).unwrap_or(0)
    };
    let (head, tail) = (cut(rng, a), cut(rng, b));
    [&a[..head], &b[tail..]].concat()
}

/// Nothing in particular: bytes, or words of the language, with or without the first lines of a module.
pub fn noise(rng: &mut Rng) -> Vec<u8> {
    let mut text = Vec::new();
    if rng.bool() {
        text.extend_from_slice(b".version 8.0\n.target sm_90\n.address_size 64\n");
    }
    if rng.bool() {
        text.extend_from_slice(b".visible .entry k(.param .u64 a) {\n.reg .b32 %r<4>;\n");
    }
    for _ in 0..rng.usize(0..120) {
        match rng.u32(0..8) {
            0 => text.extend((0..rng.usize(1..12)).map(|_| rng.u8(..))),
            1 | 2 => text.extend_from_slice(NUMBERS[rng.usize(..NUMBERS.len())].as_bytes()),
            _ => text.extend_from_slice(word(rng).as_bytes()),
        }
        text.push(if rng.u32(0..6) == 0 { b'\n' } else { b' ' });
    }
    text
}

fn bytes(rng: &mut Rng, ptx: &mut Vec<u8>) {
    for _ in 0..rng.usize(1..4) {
        if ptx.is_empty() {
            return;
        }
        let at = rng.usize(..ptx.len());
        match rng.u32(0..4) {
            0 => ptx[at] ^= 1 << rng.u32(0..8),
            1 => ptx[at] = rng.u8(..),
            2 => ptx.insert(at, rng.u8(..)),
            _ => drop(ptx.remove(at)),
        }
    }
}

fn lines(rng: &mut Rng, ptx: &mut Vec<u8>, other: &[u8]) {
    let mut lines: Vec<&[u8]> = ptx.split(|&c| c == b'\n').collect();
    let (a, b) = (rng.usize(..lines.len()), rng.usize(..lines.len()));
    match rng.u32(0..5) {
        0 => drop(lines.remove(a)),
        1 => lines.insert(a, lines[b]),
        2 => lines.swap(a, b),
        3 => {
            let theirs: Vec<&[u8]> = other.split(|&c| c == b'\n').collect();
            lines.insert(a, theirs[rng.usize(..theirs.len())]);
        }
        _ => {
            let (from, to) = (a.min(b), a.max(b).min(a.min(b) + 8));
            let piece = lines[from..to].to_vec();
            lines.splice(to..to, piece);
        }
    }
    *ptx = lines.join(&b'\n');
}

fn numbers(rng: &mut Rng, ptx: &mut Vec<u8>) {
    let digit = |i: usize| ptx[i].is_ascii_digit() && (i == 0 || !ptx[i - 1].is_ascii_alphanumeric());
    let Some(start) = rng.choice((0..ptx.len()).filter(|&i| digit(i)).collect::<Vec<_>>()) else { return };
    let length = ptx[start..].iter().take_while(|c| c.is_ascii_alphanumeric()).count();
    let number = NUMBERS[rng.usize(..NUMBERS.len())];
    ptx.splice(start..start + length, number.bytes());
}

/// The pieces of a text: runs of letters and digits, or one other byte each.
fn pieces(text: &[u8]) -> Vec<&[u8]> {
    let word = |c: u8| c.is_ascii_alphanumeric() || c == b'_' || c == b'%' || c == b'.';
    text.chunk_by(|&a, &b| word(a) && word(b)).collect()
}

fn words(rng: &mut Rng, ptx: &mut Vec<u8>, other: &[u8]) {
    let mut own = pieces(ptx);
    if own.is_empty() {
        return;
    }
    let (a, b) = (rng.usize(..own.len()), rng.usize(..own.len()));
    match rng.u32(0..6) {
        0 => drop(own.remove(a)),
        1 => own.swap(a, b),
        2 => own[a] = own[b],
        3 => own[a] = word(rng).as_bytes(),
        4 => own.insert(a, word(rng).as_bytes()),
        _ => {
            let theirs = pieces(other);
            if !theirs.is_empty() {
                own[a] = theirs[rng.usize(..theirs.len())];
            }
        }
    }
    *ptx = own.concat();
}
