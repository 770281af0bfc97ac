//! Where names of points go so that none covers another.

use crate::svg::{Anchor, Area, SMALL};

/// Places taken, inside an area that labels may not leave.
#[derive(Debug)]
pub(crate) struct Labels {
    within: Area,
    taken: Vec<Area>,
}

/// A label that has its place: the text's position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) anchor: Anchor,
}

impl Labels {
    pub(crate) fn within(within: Area) -> Labels {
        Labels { within, taken: Vec::new() }
    }

    /// Keeps labels away from here.
    pub(crate) fn take(&mut self, area: Area) {
        self.taken.push(area);
    }

    /// Keeps labels away from a marker.
    pub(crate) fn take_marker(&mut self, x: f64, y: f64) {
        self.take(Area { x: x - 6.0, y: y - 6.0, width: 12.0, height: 12.0 });
    }

    /// Keeps labels away from a straight line.
    pub(crate) fn take_line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        let steps = ((x2 - x1).hypot(y2 - y1) / 8.0).ceil().clamp(1.0, 500.0) as usize;
        for step in 0..=steps {
            let share = step as f64 / steps as f64;
            let (x, y) = (x1 + share * (x2 - x1), y1 + share * (y2 - y1));
            self.take(Area { x: x - 2.0, y: y - 2.0, width: 4.0, height: 4.0 });
        }
    }

    /// The first free place beside a point, and takes it. None where all are taken: a legend names the point as well.
    pub(crate) fn place(&mut self, x: f64, y: f64, text: &str) -> Option<Placed> {
        let beside = [
            (10.0, 4.4, Anchor::Start),
            (-10.0, 4.4, Anchor::End),
            (0.0, 20.0, Anchor::Middle),
            (0.0, -11.0, Anchor::Middle),
            (8.0, 17.0, Anchor::Start),
            (8.0, -8.0, Anchor::Start),
            (-8.0, 17.0, Anchor::End),
            (-8.0, -8.0, Anchor::End),
        ];
        let beside = beside.map(|(dx, dy, anchor)| Placed { x: x + dx, y: y + dy, anchor });
        self.place_at(&beside, text)
    }

    /// The first of these places that is free, and takes it.
    pub(crate) fn place_at(&mut self, places: &[Placed], text: &str) -> Option<Placed> {
        let (placed, area) = places.iter().find_map(|&at| {
            let area = Area::of_text(at.x, at.y, at.anchor, SMALL, text);
            let free = area.inside(self.within) && !self.taken.iter().any(|taken| taken.overlaps(area));
            free.then_some((at, area))
        })?;
        self.take(area);
        Some(placed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_never_overlap_and_never_leave() {
        let within = Area { x: 0.0, y: 0.0, width: 400.0, height: 200.0 };
        let mut labels = Labels::within(within);
        let points: Vec<(f64, f64)> = (0..24).map(|i| (f64::from(i * 137 % 400), f64::from(i * 53 % 200))).collect();
        for &(x, y) in &points {
            labels.take_marker(x, y);
        }
        let markers = labels.taken.len();
        let placed = points.iter().filter(|&&(x, y)| labels.place(x, y, "fused, 16-byte").is_some()).count();
        assert!(placed > 5 && placed < points.len(), "{placed}");
        let texts = &labels.taken[markers..];
        for (at, text) in texts.iter().enumerate() {
            assert!(text.inside(within));
            assert!(!texts[..at].iter().any(|other| other.overlaps(*text)));
            assert!(!labels.taken[..markers].iter().any(|marker| marker.overlaps(*text)));
        }
    }
}
