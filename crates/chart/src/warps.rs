//! What a warp's accesses reach, and what the warps of one multiprocessor do.

use std::collections::BTreeMap;

use crate::axis::{round_ticks, shown};
use crate::frame::{self, Sign};
use crate::heading::Heading;
use crate::quantity::Quantity;
use crate::style::{AXIS, GRID, Style};
use crate::svg::{Anchor, SMALL, Svg, WIDTH, shorten, text_width};

/// Accesses of one warp, a row each, above a row of each warp over time.
#[derive(Clone, Debug)]
pub struct WarpChart {
    pub heading: Heading,
    pub accesses: Vec<AccessRow>,
    /// What warps may be doing: names for [`WarpSpan::kind`].
    pub kinds: Vec<String>,
    /// Times that no axis can show are left out.
    pub spans: Vec<WarpSpan>,
}

/// What one access of a warp reaches.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessRow {
    pub label: String,
    /// Of global memory: pieces of 128 bytes by their distance from the first, with a bit for each of their four sectors.
    pub sectors: Vec<(u64, u8)>,
    /// Of shared memory: how many times the banks are gone through.
    pub passes: usize,
}

/// What a warp does for some time, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct WarpSpan {
    pub warp: usize,
    pub kind: usize,
    pub from: f64,
    pub to: f64,
}

const MARGIN: f64 = 12.0;
/// A sector, and the distance of two lines.
const SECTOR: f64 = 7.0;
const LINE: f64 = 4.0 * SECTOR + 4.0;
/// Accesses and warps that are shown.
const MOST_ACCESSES: usize = 16;
const MOST_WARPS: usize = 64;
/// The height of a warp's row.
const ROW: f64 = 6.0;
/// Where the timeline begins.
const LEFT: f64 = 60.0;

impl WarpChart {
    /// The picture as SVG.
    pub fn render(&self) -> String {
        let mut svg = Svg::default();
        let mut y = frame::heading(&mut svg, &self.heading) + 6.0;
        for row in self.accesses.iter().take(MOST_ACCESSES) {
            y = access(&mut svg, row, y);
        }
        let more = self.accesses.len().saturating_sub(MOST_ACCESSES);
        if more > 0 {
            svg.text(MARGIN, y + 12.0, Anchor::Start, SMALL, &format!("and {more} more accesses"));
            y += 20.0;
        }
        y = frame::legend(&mut svg, y + 6.0, Sign::Stroke, &self.kinds);
        let bottom = self.timeline(&mut svg, y + 4.0);
        svg.finish(bottom, &self.heading, &self.describe())
    }

    fn visible(&self) -> impl Iterator<Item = &WarpSpan> {
        self.spans.iter().filter(|span| span.from >= 0.0 && shown(span.to) && span.from < span.to)
    }

    /// A row of each warp. A thick line is one kind, thinner ones are others.
    fn timeline(&self, svg: &mut Svg, top: f64) -> f64 {
        let rows = || self.visible().filter(|span| span.warp < MOST_WARPS);
        let Some(end) = rows().map(|span| span.to).max_by(f64::total_cmp) else { return top + 8.0 };
        let columns = (WIDTH - LEFT - MARGIN).floor();
        let warps = rows().map(|span| span.warp).max().map_or(0, |most| most + 1);
        let bottom = top + 14.0 + ROW * warps as f64;
        for tick in round_ticks(end, 6) {
            let x = LEFT + tick / end * columns;
            svg.stroke(&format!("M{x:.1} {top:.1}V{bottom:.1}"), GRID, 1.0, "");
            let text = Quantity::seconds("").format(tick / 1e9);
            let fits = x + text_width(&text, SMALL) / 2.0 <= WIDTH;
            svg.text(x, bottom + 17.0, if fits { Anchor::Middle } else { Anchor::End }, SMALL, &text);
        }
        svg.text(MARGIN, top + 9.0, Anchor::Start, SMALL, "warp");
        for warp in (0..warps).filter(|warp| warp % 8 == 0) {
            let y = top + 14.0 + ROW * (warp as f64 + 0.5);
            svg.text(LEFT - 6.0, y + 4.4, Anchor::End, SMALL, &warp.to_string());
        }
        svg.stroke(&format!("M{LEFT:.1} {bottom:.1}H{:.1}", LEFT + columns), AXIS, 1.2, "");
        let mut paths: Vec<String> = vec![String::new(); self.kinds.len()];
        for ((warp, from), (to, kind)) in runs(rows(), columns / end, columns as usize) {
            if let Some(path) = paths.get_mut(kind) {
                let y = top + 14.0 + ROW * (warp as f64 + 0.5);
                *path += &format!("M{} {y:.0}h{}", LEFT + from as f64, to - from);
            }
        }
        for (kind, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
            svg.stroke(path, Style::of(kind).colour(), Style::of(kind).thickness(), "");
        }
        svg.text((LEFT + WIDTH) / 2.0, bottom + 35.0, Anchor::Middle, 13.0, "from the first block on");
        bottom + 46.0
    }

    /// What a screen reader says.
    fn describe(&self) -> String {
        let mut text = String::from("Accesses of one warp.");
        for row in &self.accesses {
            text += &format!(" {}: {}.", row.label, row.count());
        }
        let all: f64 = self.visible().map(|span| span.to - span.from).sum();
        text += " Time of warps.";
        for (kind, name) in self.kinds.iter().enumerate() {
            let own: f64 = self.visible().filter(|span| span.kind == kind).map(|span| span.to - span.from).sum();
            text += &format!(" {name}: {:.0}%.", 100.0 * own / all.max(f64::MIN_POSITIVE));
        }
        text
    }
}

impl AccessRow {
    fn count(&self) -> String {
        let sectors: u32 = self.sectors.iter().map(|(_, mask)| mask.count_ones()).sum();
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        match self.sectors.len() {
            0 => format!("{} pass{} through the banks", self.passes, if self.passes == 1 { "" } else { "es" }),
            lines => format!("{sectors} sector{} in {lines} line{}", plural(sectors as usize), plural(lines)),
        }
    }
}

/// Draws one access: where the next may begin.
fn access(svg: &mut Svg, row: &AccessRow, y: f64) -> f64 {
    let count = row.count();
    let label = shorten(&row.label, SMALL, WIDTH - 2.0 * MARGIN - text_width(&count, SMALL) - 20.0);
    svg.text(MARGIN, y + 11.0, Anchor::Start, SMALL, &format!("{label}: {count}"));
    let (top, each) = (y + 17.0, ((WIDTH - 2.0 * MARGIN) / LINE) as usize);
    let (mut outline, mut touched, mut gaps) = (String::new(), String::new(), String::new());
    let mut before = None;
    let mut rows = 1;
    for (place, (number, mask)) in row.sectors.iter().enumerate() {
        rows = place / each + 1;
        let (x, y) = (MARGIN + LINE * (place % each) as f64, top + 13.0 * (rows - 1) as f64);
        outline += &format!("M{x:.0} {y:.0}h{}v8h-{}Z", 4.0 * SECTOR, 4.0 * SECTOR);
        for sector in (0..4).filter(|sector| mask >> sector & 1 == 1) {
            touched += &format!("M{} {}h{}", x + SECTOR * f64::from(sector) + 1.0, y + 4.0, SECTOR - 2.0);
        }
        if before.is_some_and(|before| *number != before + 1) {
            gaps += &format!("M{} {y:.0}v8", x - 2.0);
        }
        before = Some(*number);
    }
    for pass in 0..row.passes.min(each) {
        let x = MARGIN + LINE * pass as f64;
        outline += &format!("M{x:.0} {top:.0}h{}v8h-{}Z", 4.0 * SECTOR, 4.0 * SECTOR);
        touched += &format!("M{} {}h{}", x + 1.0, top + 4.0, 4.0 * SECTOR - 2.0);
    }
    let colour = Style::of(if row.sectors.is_empty() { 2 } else { 0 }).colour();
    svg.stroke(&outline, GRID, 1.0, "");
    if !touched.is_empty() {
        svg.stroke(&touched, colour, 6.0, "");
    }
    if !gaps.is_empty() {
        svg.stroke(&gaps, AXIS, 1.6, "2 1.5");
    }
    top + 13.0 * rows as f64 + 6.0
}

/// Of each warp, in columns of the picture, what takes most of each: runs of the same kind.
fn runs<'a>(
    spans: impl Iterator<Item = &'a WarpSpan>,
    scale: f64,
    columns: usize,
) -> BTreeMap<(usize, usize), (usize, usize)> {
    // The kind that has most of a column, and how much.
    let mut most: BTreeMap<(usize, usize), (usize, f64)> = BTreeMap::new();
    for span in spans {
        let (from, to) = (span.from * scale, span.to * scale);
        for column in from as usize..=(to as usize).min(columns.saturating_sub(1)) {
            let share = to.min(column as f64 + 1.0) - from.max(column as f64);
            let known = most.entry((span.warp, column)).or_insert((span.kind, share));
            if share > known.1 {
                *known = (span.kind, share);
            }
        }
    }
    let mut runs: BTreeMap<(usize, usize), (usize, usize)> = BTreeMap::new();
    let mut last: Option<(usize, usize)> = None;
    for ((warp, column), (kind, _)) in most {
        let open = last.filter(|key| key.0 == warp).and_then(|key| runs.get_mut(&key));
        match open.filter(|run| run.0 == column && run.1 == kind) {
            Some(run) => run.0 = column + 1,
            None => {
                last = Some((warp, column));
                runs.insert((warp, column), (column + 1, kind));
            }
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heading::Basis;

    fn span(warp: usize, kind: usize, from: f64, to: f64) -> WarpSpan {
        WarpSpan { warp, kind, from, to }
    }

    #[test]
    fn a_column_shows_what_takes_most_of_it() {
        let spans = [span(0, 0, 0.0, 1.6), span(0, 1, 1.6, 4.0), span(1, 1, 0.0, 4.0)];
        let found = runs(spans.iter(), 1.0, 4);
        let expected = [((0, 0), (2, 0)), ((0, 2), (4, 1)), ((1, 0), (4, 1))];
        assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_legend_shows_the_lines_of_the_plot() {
        let kinds = ["instructions", "memory", "shared memory", "barriers", "starting", "fences"];
        let chart = WarpChart {
            heading: Heading { title: "k".into(), basis: Basis::Predicted, source: String::new() },
            accesses: vec![],
            kinds: kinds.map(String::from).into(),
            spans: (0..6).map(|kind| span(0, kind, 100.0 * kind as f64, 100.0 * (kind + 1) as f64)).collect(),
        };
        let text = chart.render();
        let mut widths = Vec::new();
        for (kind, name) in kinds.iter().enumerate() {
            let colour = format!("stroke:{}\" stroke-width=\"", Style::of(kind).colour());
            let found: Vec<&str> = text.split(&colour).skip(1).filter_map(|rest| rest.split('"').next()).collect();
            assert!(found.len() == 2 && found[0] == found[1], "{name}: {found:?}");
            assert!(!widths.contains(&found[0]), "two are as thick: {text}");
            widths.push(found[0]);
        }
    }

    #[test]
    fn accesses_say_what_they_reach() {
        let row = |sectors: Vec<(u64, u8)>, passes| AccessRow { label: "load".into(), sectors, passes };
        let chart = WarpChart {
            heading: Heading { title: "k".into(), basis: Basis::Predicted, source: String::new() },
            accesses: vec![row(vec![(0, 0b1111)], 0), row((0..32).map(|at| (8 * at, 1)).collect(), 0), row(vec![], 4)],
            kinds: vec!["instructions".into(), "memory".into()],
            spans: vec![span(0, 0, 0.0, 10.0), span(0, 1, 10.0, 40.0)],
        };
        let text = chart.render();
        for words in [
            "load: 4 sectors in 1 line.",
            "load: 32 sectors in 32 lines.",
            "load: 4 passes through the banks.",
            "memory: 75%.",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
        assert!(!text.contains("NaN"));
        let none = WarpChart { accesses: vec![], kinds: vec![], spans: vec![], ..chart };
        assert!(none.render().starts_with("<svg"));
    }
}
