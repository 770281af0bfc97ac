//! What the warps of one SM do, and when.

use std::collections::HashMap;

use super::super::Span;
use super::Whole;
use crate::code::Place;
use crate::report::account::{Access, Span as Told, Trace};
use crate::timing::{TICKS, Ticks};

impl Whole<'_> {
    /// `of` says which line an instruction belongs to.
    pub(super) fn trace(&self, spans: &[Span], of: &HashMap<u32, usize>) -> Trace {
        // To the hundredth: the text of a trace is long.
        let ns = |ticks: Ticks| (100.0 * ticks as f64 / TICKS as f64 / self.rates.clock_ghz).round() / 100.0;
        let mut told: Vec<Told> = Vec::new();
        // The last one of each warp, which may go on.
        let mut last: HashMap<u32, usize> = HashMap::new();
        for &Span { warp, pc, state, from, to } in spans {
            let line = of.get(&pc).copied().unwrap_or_default();
            let same = |known: &&mut Told| known.state == state && known.line == line && known.to == ns(from);
            if let Some(known) = last.get(&warp).and_then(|&at| told.get_mut(at)).filter(same) {
                known.to = ns(to);
                continue;
            }
            last.insert(warp, told.len());
            told.push(Told { warp, state, from: ns(from), to: ns(to), line });
        }
        Trace { spans: told, accesses: self.first_accesses(of) }
    }

    /// What the first warp reaches at each of its accesses' first time.
    fn first_accesses(&self, of: &HashMap<u32, usize>) -> Vec<Access> {
        let Some(recording) = self.samples.first().map(|sample| &sample.recording) else { return Vec::new() };
        let mut seen: Vec<u32> = Vec::new();
        let mut accesses = Vec::new();
        for step in recording.warps.first().into_iter().flat_map(|path| &path.steps) {
            if (step.lines == 0 && step.passes == 0) || seen.contains(&step.pc) {
                continue;
            }
            seen.push(step.pc);
            let op = &self.program.ops[step.pc as usize];
            let lines = match step.reached {
                Some(Place::Global) => recording.lines(step),
                _ => &[],
            };
            let first = lines.iter().map(|line| line.number).min().unwrap_or_default();
            accesses.push(Access {
                line: of.get(&step.pc).copied().unwrap_or_default(),
                write: !op.kind.loads(),
                width: op.bytes,
                sectors: lines.iter().map(|line| (line.number - first, line.sectors)).collect(),
                passes: step.passes,
            });
        }
        accesses
    }
}
