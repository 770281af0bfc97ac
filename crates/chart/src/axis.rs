//! Where axes are marked: logarithmic ones, and linear ones from 0 on.

use crate::quantity::Quantity;

/// A logarithmic axis between two values, at these places in the picture.
#[derive(Clone, Debug)]
pub(crate) struct LogAxis {
    /// Decimal logarithms of the ends.
    low: f64,
    high: f64,
    /// Where the ends are.
    from: f64,
    to: f64,
}

/// Whether a logarithmic axis can show the value: it is positive, and no farther from 1 than any rate or time could be.
pub(crate) fn shown(value: f64) -> bool {
    (1e-30..=1e30).contains(&value)
}

impl LogAxis {
    /// An axis with room for all values that it can show, ending at a fifth of a decade. Without any it goes from 1 to 10.
    pub(crate) fn around(values: impl Iterator<Item = f64>, from: f64, to: f64) -> LogAxis {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|&value| shown(value)) {
            low = low.min(value.log10());
            high = high.max(value.log10());
        }
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        let (mut low, mut high) = ((low * 5.0 - 0.25).floor() / 5.0, (high * 5.0 + 0.25).ceil() / 5.0);
        // One value, or nearly: a decade about it.
        if high - low < 1.0 {
            let middle = (low + high) / 2.0;
            (low, high) = (middle - 0.5, middle + 0.5);
        }
        LogAxis { low, high, from, to }
    }

    /// The value at the axis' low end.
    pub(crate) fn low(&self) -> f64 {
        10f64.powf(self.low)
    }

    /// The value at the axis' high end.
    pub(crate) fn high(&self) -> f64 {
        10f64.powf(self.high)
    }

    /// Where a value is, never outside the axis.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let at = if shown(value) { value.log10() } else { self.low };
        let share = ((at - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        self.from + share * (self.to - self.from)
    }

    /// Where the axis is marked: place and text. Decades, of many only some; of few also 2 and 5.
    pub(crate) fn ticks(&self, quantity: &Quantity) -> Vec<(f64, String)> {
        let (first, last) = (self.low.floor() as i64, self.high.ceil() as i64);
        let step = ((last - first) / 8 + 1) as usize;
        let between: &[f64] = if self.high - self.low <= 2.4 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let mut ticks = Vec::new();
        for decade in (first..=last).step_by(step) {
            for factor in between {
                let at = decade as f64 + factor.log10();
                if at >= self.low - 1e-9 && at <= self.high + 1e-9 {
                    let share = (at - self.low) / (self.high - self.low);
                    // From text, so that 10^-6 is the number that is written so.
                    let value = format!("{factor}e{decade}").parse().unwrap_or(f64::NAN);
                    ticks.push((self.from + share * (self.to - self.from), quantity.format(value)));
                }
            }
        }
        ticks
    }
}

/// Where an axis from 0 to `end` is marked: at most this many steps of 1, 2 or 5 times a power of ten.
pub(crate) fn round_ticks(end: f64, most: u32) -> Vec<f64> {
    let least = end / f64::from(most);
    let decade = 10f64.powf(least.log10().floor());
    // What is a step but for rounding is one.
    let steps = |step: f64| (end / step + 1e-9).floor();
    let fits = |step: &f64| steps(*step) <= f64::from(most);
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * decade).into_iter().find(fits).unwrap_or(end);
    (0..=steps(step) as u32).map(|tick| f64::from(tick) * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_holds_what_it_can_show_and_marks_decades() {
        let axis = LogAxis::around([4096.0, f64::NAN, 0.0, -3.0, f64::INFINITY, 67108864.0].into_iter(), 0.0, 100.0);
        assert!(axis.low() < 4096.0 && axis.high() > 67108864.0);
        let texts: Vec<_> = axis.ticks(&Quantity::count("")).into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, ["10k", "100k", "1M", "10M", "100M"]);
        assert_eq!(axis.place(f64::NAN), 0.0);
    }

    #[test]
    fn ticks_of_a_linear_axis_are_round() {
        let texts = |end: f64| -> Vec<String> {
            round_ticks(end, 6).into_iter().map(|at| Quantity::count("").format(at)).collect()
        };
        assert_eq!(texts(5678.9), ["0", "1k", "2k", "3k", "4k", "5k"]);
        assert_eq!(texts(0.6), ["0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6"]);
        assert_eq!(texts(1250.0), ["0", "200", "400", "600", "800", "1k", "1.2k"]);
        assert_eq!(texts(70.0), ["0", "20", "40", "60"]);
    }

    #[test]
    fn one_value_has_a_decade_and_extremes_have_few_marks() {
        let one = LogAxis::around([3.0].into_iter(), 0.0, 100.0);
        assert!(one.place(3.0) > 20.0 && one.place(3.0) < 80.0);
        assert!(one.ticks(&Quantity::count("")).len() >= 2);
        let wide = LogAxis::around([1e-30, 1e30].into_iter(), 0.0, 100.0);
        assert!(wide.ticks(&Quantity::count("")).len() <= 10);
        assert!(wide.place(1e30) <= 100.0);
    }
}
