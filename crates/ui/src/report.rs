//! The text that stands beside a case.

use fusion_diagnostic::{Diagnostic, Look, say};
use fusion_machine::Fault;
use fusion_machine::report::Code;

use crate::case::Case;

/// The codes of the faults and of what was found before them, sorted, each once.
pub fn codes(faults: &[Fault]) -> Vec<Code> {
    let all = faults.iter().flat_map(|fault| std::iter::once(fault).chain(&fault.earlier));
    let mut codes: Vec<Code> = all.map(Fault::code).collect();
    codes.sort();
    codes.dedup();
    codes
}

/// The faults as a learner reads them, in plain text of 100 columns.
///
/// What differs from machine to machine is left out: addresses, and where the CUDA headers lie.
pub fn text(case: &Case, faults: &[Fault]) -> String {
    if faults.is_empty() {
        return String::new();
    }
    let mut sources = vec![(case.file(), case.source.as_str())];
    for name in &case.headers {
        sources.extend(case.header(name).map(|text| (name.clone(), text)));
    }
    let told: Vec<Diagnostic> = faults.iter().map(|fault| portable(say(fault))).collect();
    fusion_diagnostic::all(&told, sources.as_slice(), Look::default()) + "\n"
}

/// Changed before it is rendered, for lines are wrapped by their length.
fn portable(mut fault: Diagnostic) -> Diagnostic {
    fault.earlier = fault.earlier.into_iter().map(portable).collect();
    let mut texts = vec![&mut fault.title, &mut fault.label];
    texts.extend(fault.notes.iter_mut().chain(&mut fault.help));
    let mut positions: Vec<_> = fault.source.iter_mut().collect();
    for related in &mut fault.related {
        texts.push(&mut related.label);
        positions.extend(&mut related.source);
    }
    let mut streams = Vec::new();
    for text in texts {
        *text = with_streams_counted(&without_addresses(text), &mut streams);
    }
    for position in positions {
        if let Some((_, header)) = position.file.rsplit_once("/include/") {
            position.file = header.to_owned();
        }
    }
    fault
}

/// `0x` and nine hexadecimal digits or more, as the emulated device's addresses have, become `0x...`.
fn without_addresses(text: &str) -> String {
    let mut parts = text.split("0x");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(part.len());
        out += "0x";
        out += if digits >= 9 { "..." } else { &part[..digits] };
        out += &part[digits..];
    }
    out
}

/// `stream 180 ... stream 181` becomes `stream 1 ... stream 2`: the numbers are those of all cases before it.
fn with_streams_counted(text: &str, streams: &mut Vec<String>) -> String {
    let mut parts = text.split("stream ");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        out += "stream ";
        if digits > 0 {
            let number = &part[..digits];
            let known = streams.iter().position(|stream| stream == number);
            let index = known.unwrap_or(streams.len());
            if known.is_none() {
                streams.push(number.to_owned());
            }
            out += &(index + 1).to_string();
        }
        out += &part[digits..];
    }
    out
}

#[cfg(test)]
mod tests {
    use fusion_machine::report::SourcePosition;
    use fusion_machine::report::kind::{Memory, Stop};

    use super::*;

    #[test]
    fn reports_are_the_same_on_every_machine() {
        assert_eq!(without_addresses("at 0xa02c08442, 0x0000ffff of 0x"), "at 0x..., 0x0000ffff of 0x");
        let mut streams = Vec::new();
        assert_eq!(with_streams_counted("stream 7, the second stream", &mut streams), "stream 1, the second stream");
        assert_eq!(with_streams_counted("of stream 9 and stream 7", &mut streams), "of stream 2 and stream 1");
        let stopped = Fault { earlier: vec![Fault::new(Stop::Trap)], ..Fault::new(Memory::WriteParameter) };
        assert_eq!(codes(&[stopped.clone(), stopped]), [Code::Trap, Code::WriteReadonly]);
        let mut fault = Diagnostic::new("E-NULL", "at 0x123456789");
        let file = "/home/me/include/a.h".to_owned();
        fault.source.push(SourcePosition { file, line: 1, column: 1, function: None });
        let fault = portable(fault);
        assert_eq!((fault.title.as_str(), fault.source[0].file.as_str()), ("at 0x...", "a.h"));
    }
}
