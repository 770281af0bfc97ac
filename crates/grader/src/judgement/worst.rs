//! One judgement of several shapes: that of the worst, with the others beside it.

use super::{Fast, Lean, Verdict};

impl Lean {
    /// The judgement at the shape that decides; all others in [`Lean::shapes`], in their order.
    pub fn worst(mut shapes: Vec<Lean>) -> Lean {
        let mut worst = take(&mut shapes, |lean| (lean.verdict, lean.margin()));
        worst.shapes = shapes;
        worst
    }

    /// How many times what is needed may be moved: the less, the nearer to failing.
    fn margin(&self) -> f64 {
        self.dram_bytes.map_or(f64::INFINITY, |bytes| bytes.needed as f64 / bytes.yours.max(1) as f64)
    }
}

impl Fast {
    /// The judgement at the shape that decides; all others in [`Fast::shapes`], in their order.
    pub fn worst(mut shapes: Vec<Fast>) -> Fast {
        let mut worst = take(&mut shapes, |fast| (fast.verdict, fast.margin()));
        worst.shapes = shapes;
        worst
    }

    /// The lower end of what was reached over the bar: the less, the nearer to failing.
    fn margin(&self) -> f64 {
        let chain = self.ratio.zip(self.bar).map(|(ratio, bar)| ratio.low / bar);
        let rival = self.rival.as_ref().and_then(|rival| Some(rival.ratio?.low / rival.bar));
        chain.into_iter().chain(rival).fold(f64::INFINITY, f64::min)
    }
}

/// Takes the first that fails; else the first without a verdict; else the first that is inconclusive; of those that
/// pass, the one with the least margin.
fn take<T: Default>(shapes: &mut Vec<T>, of: impl Fn(&T) -> (Verdict, f64)) -> T {
    let all: Vec<(Verdict, f64)> = shapes.iter().map(&of).collect();
    let decides = Verdict::combine(all.iter().map(|(verdict, _)| *verdict));
    let candidates = all.iter().enumerate().filter(|(_, (verdict, _))| *verdict == decides);
    let worst = match decides {
        Verdict::Pass => candidates.min_by(|a, b| a.1.1.total_cmp(&b.1.1)),
        _ => candidates.into_iter().next(),
    };
    worst.map(|(index, _)| index).map(|index| shapes.remove(index)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgement::{Contest, Interval};

    fn fast(verdict: Verdict, low: f64) -> Fast {
        Fast { verdict, ratio: Some(Interval::exact(low)), bar: Some(1.0), ..Fast::default() }
    }

    #[test]
    fn the_worst_decides_and_the_others_stay() {
        use Verdict::{Fail, Inconclusive, Pass};
        for (shapes, worst) in [
            (vec![(Pass, 1.5), (Pass, 1.2), (Pass, 1.3)], (Pass, 1.2)),
            (vec![(Pass, 1.5), (Inconclusive, 1.0), (Pass, 1.1)], (Inconclusive, 1.0)),
            (vec![(Inconclusive, 1.0), (Fail, 0.9), (Fail, 0.1)], (Fail, 0.9)),
        ] {
            let judged = Fast::worst(shapes.iter().map(|&(verdict, low)| fast(verdict, low)).collect());
            assert_eq!((judged.verdict, judged.ratio.unwrap().low, judged.shapes.len()), (worst.0, worst.1, 2));
        }
        assert_eq!(Fast::worst(Vec::new()), Fast::default());
    }

    #[test]
    fn a_rival_that_is_barely_beaten_is_the_least_margin() {
        let contest = Contest { ratio: Some(Interval::exact(1.01)), bar: 1.0, ..Contest::default() };
        let near = Fast { rival: Some(contest), ..fast(Verdict::Pass, 9.0) };
        assert_eq!(Fast::worst(vec![fast(Verdict::Pass, 1.5), near.clone()]).ratio, near.ratio);
    }
}
