//! The device runtime: `printf`, failed assertions, the heap, and what cooperative groups ask for.

use std::cell::Cell;

use super::call::argument;
use crate::code::{Argument, Place};
use crate::exec::check::Origin;
use crate::exec::context::{Common, Worker};
use crate::exec::fault::trap::{Trap, Trapped};
use crate::exec::memory::heap;
use crate::exec::state::address::resolve;
use crate::exec::state::lanes::each;
use crate::exec::state::warp::{Split, Warp};
use crate::exec::state::{local, shared};
use crate::report::{self, kind::Stop};

/// The functions of the device runtime that are emulated.
pub(crate) const NAMES: &[&str] = &["vprintf", "__assertfail", "malloc", "free", "cudaCGGetIntrinsicHandle"];
/// What a block may print; as on a GPU, whose buffer has a megabyte, the rest is lost.
const MAX_OUTPUT: usize = 1 << 20;
/// `cudaCGScopeGrid`. There are no groups of several devices any more, and their handle is null.
const GRID_SCOPE: u64 = 1;
/// The longest string that is read.
const MAX_STRING: u64 = 4096;

#[expect(clippy::too_many_arguments, reason = "the parts of one instruction")]
pub(crate) fn call(
    worker: &mut Worker<'_>,
    common: &mut Common,
    warp: &mut Warp,
    split: &Split,
    mask: u32,
    name: &str,
    args: &[Argument],
    returns: &[Argument],
) -> Trapped {
    let first = |warp: &mut Warp| {
        let mut values = [0; 32];
        each(mask).for_each(|lane| values[lane] = argument(warp, split, lane, args.first()));
        values
    };
    let results = match name {
        "__assertfail" => return Err(failed_assertion(worker, common, warp, split, mask, args)),
        "malloc" => heap::malloc(worker.run, mask, &first(warp)),
        "free" => {
            let bases = first(warp);
            return heap::free(worker.run, mask, &bases);
        }
        "cudaCGGetIntrinsicHandle" => {
            first(warp).map(|scope| if scope == GRID_SCOPE { worker.run.workspace } else { 0 })
        }
        _ => printf(worker, common, warp, split, mask, args)?,
    };
    match returns.first() {
        Some(Argument::Register(d)) => warp.regs.view(split.bases).put(*d, mask, &results),
        Some(Argument::Frame { offset, size }) => {
            let size = if *size < 8 { 4 } else { 8 };
            for lane in each(mask) {
                let at = u64::from(split.local_base + offset);
                if at + u64::from(size) <= 4 * warp.local.len() as u64 {
                    local::store_element(&mut warp.local, lane, at, size, results[lane]);
                    common.checks.returned(warp.index, lane, at, size.into());
                }
            }
        }
        None => {}
    }
    Ok(())
}

/// `vprintf(format, arguments)`: how many arguments each lane printed.
fn printf(
    worker: &mut Worker<'_>,
    common: &mut Common,
    warp: &mut Warp,
    split: &Split,
    mask: u32,
    args: &[Argument],
) -> Trapped<[u64; 32]> {
    let mut printed = [0u64; 32];
    for lane in each(mask) {
        let format = argument(warp, split, lane, args.first());
        let buffer = argument(warp, split, lane, args.get(1));
        let memory = Memory::new(worker, common, warp, lane);
        let Some(format) = memory.string(format) else {
            return Err(Trap::new(report::kind::Memory::UnreadableFormat, 1 << lane));
        };
        let mut text = String::new();
        printed[lane] = print(&mut text, &format, &memory, buffer);
        let undefined = memory.undefined.take();
        if common.output.len() + text.len() <= MAX_OUTPUT {
            common.output.push_str(&text);
        }
        if let Some(origin) = undefined {
            worker.watch.printed_undefined(1 << lane, origin);
        }
    }
    Ok(printed)
}

/// `__assertfail(message, file, line, function, character size)`.
fn failed_assertion(
    worker: &mut Worker<'_>,
    common: &mut Common,
    warp: &mut Warp,
    split: &Split,
    mask: u32,
    args: &[Argument],
) -> Box<Trap> {
    let lane = mask.trailing_zeros() as usize & 31;
    let values: Vec<u64> = (0..4).map(|i| argument(warp, split, lane, args.get(i))).collect();
    let memory = Memory::new(worker, common, warp, lane);
    let text = |at: usize| memory.string(values[at]).unwrap_or_default();
    let (message, file, function) = (text(0), text(1), text(3));
    Trap::new(Stop::Assertion { message, file, line: values[2] as u32, function }, mask)
}

/// Memory as one lane sees it through generic addresses.
struct Memory<'m, 'a> {
    worker: &'m Worker<'a>,
    common: &'m Common,
    warp: &'m Warp,
    lane: usize,
    /// Where an undefined value came from that was read.
    undefined: Cell<Option<Origin>>,
}

impl<'m, 'a> Memory<'m, 'a> {
    fn new(worker: &'m Worker<'a>, common: &'m Common, warp: &'m Warp, lane: usize) -> Self {
        Self { worker, common, warp, lane, undefined: Cell::new(None) }
    }

    fn byte(&self, addr: u64) -> Option<u8> {
        let (place, at) = resolve(self.common.rank, addr);
        let value = match place {
            Place::Shared if at < 4 * self.common.shared.len() as u64 => {
                shared::load_element(&self.common.shared, at, 1)
            }
            Place::Local if at < 4 * self.warp.local.len() as u64 => {
                local::load_element(&self.warp.local, self.lane, at, 1)
            }
            Place::Global => {
                let window = &self.worker.windows[self.worker.window_of(at)?];
                window.load(at, 1)
            }
            _ => return None,
        };
        Some(value as u8)
    }

    fn value(&self, addr: u64, size: u64) -> u64 {
        if let (Place::Local, at) = resolve(self.common.rank, addr)
            && let Some(origin) = self.common.checks.undefined_at(self.warp.index, self.lane, at, size)
        {
            self.undefined.set(Some(origin));
        }
        (0..size).fold(0, |v, i| v | u64::from(self.byte(addr.wrapping_add(i)).unwrap_or(0)) << (8 * i))
    }

    fn string(&self, addr: u64) -> Option<String> {
        let mut bytes = Vec::new();
        for i in 0..MAX_STRING {
            match self.byte(addr.checked_add(i)?)? {
                0 => break,
                byte => bytes.push(byte),
            }
        }
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// A conversion of a format string: `%-08.3lld`.
#[derive(Default)]
struct Spec {
    left: bool,
    zero: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
    long: bool,
}

/// C's formatted output over an argument buffer: every argument aligned to its size. Returns the number of arguments.
fn print(out: &mut String, format: &str, memory: &Memory<'_, '_>, buffer: u64) -> u64 {
    let mut at = buffer;
    let mut count = 0;
    let mut take = |size: u64| {
        // A buffer may lie at any address, the last ones included.
        at = at.checked_next_multiple_of(size).unwrap_or_default();
        let value = memory.value(at, size);
        at = at.wrapping_add(size);
        count += 1;
        value
    };
    let mut rest = format.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut spec = Spec::default();
        while let Some(flag) = rest.next_if(|c| "-0+ #".contains(*c)) {
            match flag {
                '-' => spec.left = true,
                '0' => spec.zero = true,
                '+' => spec.plus = true,
                ' ' => spec.space = true,
                _ => spec.alternate = true,
            }
        }
        let number = |rest: &mut std::iter::Peekable<std::str::Chars<'_>>, take: &mut dyn FnMut(u64) -> u64| {
            if rest.next_if_eq(&'*').is_some() {
                return take(4) as i32;
            }
            let mut n = 0i32;
            while let Some(digit) = rest.peek().and_then(|c| c.to_digit(10)) {
                rest.next();
                n = n.saturating_mul(10).saturating_add(digit as i32);
            }
            n
        };
        let width = number(&mut rest, &mut take);
        spec.left |= width < 0;
        spec.width = (width.unsigned_abs() as usize).min(4096);
        if rest.next_if_eq(&'.').is_some() {
            spec.precision = usize::try_from(number(&mut rest, &mut take)).ok().map(|p| p.min(4096));
        }
        while let Some(length) = rest.next_if(|c| "hljztL".contains(*c)) {
            // `long` has 64 bits where CUDA runs.
            spec.long |= length != 'h' && length != 'L';
        }
        let integer = if spec.long { 8 } else { 4 };
        match rest.next() {
            Some('%') => out.push('%'),
            Some('d' | 'i') => {
                let raw = take(integer);
                let value = if spec.long { raw as i64 } else { i64::from(raw as u32 as i32) };
                let sign = spec.sign(value < 0);
                spec.integer(out, sign, value.unsigned_abs().to_string());
            }
            Some('u') => {
                let value = take(integer);
                spec.integer(out, "", value.to_string());
            }
            Some('o') => {
                let value = take(integer);
                spec.integer(out, if spec.alternate { "0" } else { "" }, format!("{value:o}"));
            }
            Some(x @ ('x' | 'X')) => {
                let value = take(integer);
                let digits = if x == 'x' { format!("{value:x}") } else { format!("{value:X}") };
                let prefix = match (spec.alternate && value != 0, x) {
                    (true, 'x') => "0x",
                    (true, _) => "0X",
                    _ => "",
                };
                spec.integer(out, prefix, digits);
            }
            Some('c') => {
                let value = take(4) as u8;
                spec.pad(out, "", &char::from(value).to_string(), false);
            }
            Some('p') => {
                let value = take(8);
                spec.pad(out, "", &format!("{value:#x}"), false);
            }
            Some('s') => {
                let text = memory.string(take(8)).unwrap_or_else(|| "(null)".into());
                let text: String = text.chars().take(spec.precision.unwrap_or(usize::MAX)).collect();
                spec.pad(out, "", &text, false);
            }
            Some(conversion @ ('f' | 'F' | 'e' | 'E' | 'g' | 'G')) => {
                let value = f64::from_bits(take(8));
                let sign = spec.sign(value.is_sign_negative() && !value.is_nan());
                let text = spec.float(value.abs(), conversion.to_ascii_lowercase());
                let text = if conversion.is_ascii_uppercase() { text.to_uppercase() } else { text };
                spec.pad(out, sign, &text, spec.zero && value.is_finite());
            }
            Some(other) => {
                out.push('%');
                out.push(other);
            }
            None => out.push('%'),
        }
    }
    count
}

impl Spec {
    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            _ => "",
        }
    }

    fn integer(&self, out: &mut String, prefix: &str, digits: String) {
        let digits = match self.precision {
            Some(p) => format!("{}{digits}", "0".repeat(p.saturating_sub(digits.len()))),
            None => digits,
        };
        self.pad(out, prefix, &digits, self.zero && self.precision.is_none());
    }

    fn pad(&self, out: &mut String, prefix: &str, text: &str, zeros: bool) {
        let missing = self.width.saturating_sub(prefix.chars().count() + text.chars().count());
        match (self.left, zeros) {
            (true, _) => {
                out.push_str(prefix);
                out.push_str(text);
                out.extend(std::iter::repeat_n(' ', missing));
            }
            (false, true) => {
                out.push_str(prefix);
                out.extend(std::iter::repeat_n('0', missing));
                out.push_str(text);
            }
            (false, false) => {
                out.extend(std::iter::repeat_n(' ', missing));
                out.push_str(prefix);
                out.push_str(text);
            }
        }
    }

    /// A float that is not negative.
    fn float(&self, value: f64, conversion: char) -> String {
        if value.is_nan() {
            return "nan".into();
        }
        if value.is_infinite() {
            return "inf".into();
        }
        let precision = self.precision.unwrap_or(6);
        match conversion {
            'f' => format!("{value:.precision$}"),
            'e' => exponential(value, precision),
            _ => {
                let precision = precision.max(1);
                let rounded = exponential(value, precision - 1);
                let exponent: i32 = rounded.rsplit('e').next().and_then(|e| e.parse().ok()).unwrap_or(0);
                if exponent < -4 || exponent >= precision as i32 {
                    let (mantissa, exponent) = rounded.split_once('e').unwrap_or((&rounded, "+00"));
                    return format!("{}e{exponent}", self.trim(mantissa));
                }
                let decimals = (precision as i32 - 1 - exponent).max(0) as usize;
                self.trim(&format!("{value:.decimals$}")).to_string()
            }
        }
    }

    /// `%g` drops zeros at the end, unless `#` keeps them.
    fn trim<'t>(&self, text: &'t str) -> &'t str {
        if self.alternate || !text.contains('.') {
            return text;
        }
        text.trim_end_matches('0').trim_end_matches('.')
    }
}

/// C's form: at least two digits of exponent, with its sign.
fn exponential(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
}
