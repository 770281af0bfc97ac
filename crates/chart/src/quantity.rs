//! What an axis measures, and how its values are written.

/// What an axis measures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// The axis' name: `time`.
    pub name: String,
    /// The unit that follows the prefix: `s`, `B/s`, `FLOP/s`; empty for a number of things.
    pub unit: String,
}

impl Quantity {
    /// A quantity with any unit, written with decimal prefixes.
    pub fn new(name: impl Into<String>, unit: impl Into<String>) -> Quantity {
        Quantity { name: name.into(), unit: unit.into() }
    }

    /// A number of things: `4k`, `1M`.
    pub fn count(name: impl Into<String>) -> Quantity {
        Quantity::new(name, "")
    }

    /// Seconds: `10 µs`.
    pub fn seconds(name: impl Into<String>) -> Quantity {
        Quantity::new(name, "s")
    }

    /// Bytes a second: `100 GB/s`.
    pub fn bytes_per_second(name: impl Into<String>) -> Quantity {
        Quantity::new(name, "B/s")
    }

    /// A value with three digits, prefix and unit: `4.21 TB/s`.
    pub(crate) fn format(&self, value: f64) -> String {
        const PREFIXES: [(f64, &str); 9] = [
            (1e15, "P"),
            (1e12, "T"),
            (1e9, "G"),
            (1e6, "M"),
            (1e3, "k"),
            (1.0, ""),
            (1e-3, "m"),
            (1e-6, "µ"),
            (1e-9, "n"),
        ];
        let unit = self.unit.as_str();
        let size = value.abs();
        // A ratio such as FLOP/byte takes no prefix, nor does a part of one thing: nobody says kiloFLOP per byte.
        let plain = unit == "FLOP/B" || (unit.is_empty() && size < 1.0);
        let prefix = PREFIXES.iter().find(|(factor, _)| size >= factor * 0.9995).filter(|_| size < 1e18);
        match prefix {
            _ if size == 0.0 => join("0", "", unit),
            _ if plain && (1e-3..1e6).contains(&size) => join(&digits(value), "", unit),
            Some((factor, prefix)) if !plain => join(&digits(value / factor), prefix, unit),
            _ => join(&format!("{value:.0e}"), "", unit),
        }
    }
}

fn join(number: &str, prefix: &str, unit: &str) -> String {
    match unit {
        "" => format!("{number}{prefix}"),
        unit => format!("{number} {prefix}{unit}"),
    }
}

/// Three significant digits, without zeros at the end.
pub(crate) fn digits(value: f64) -> String {
    let places = match value.abs() {
        size if size >= 99.95 || size == 0.0 => 0,
        size if size >= 9.995 => 1,
        size if size >= 0.9995 => 2,
        size if size >= 0.0995 => 3,
        size if size >= 0.00995 => 4,
        _ => 5,
    };
    let text = format!("{value:.places$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_read_as_people_write_them() {
        let cases = [
            (Quantity::seconds(""), 12.34e-6, "12.3 µs"),
            (Quantity::seconds(""), 1e-3, "1 ms"),
            (Quantity::seconds(""), 0.0, "0 s"),
            (Quantity::bytes_per_second(""), 4.214e12, "4.21 TB/s"),
            (Quantity::count(""), 4096.0, "4.1k"),
            (Quantity::count(""), 1e6, "1M"),
            (Quantity::count(""), 0.5, "0.5"),
            (Quantity::new("", "FLOP/B"), 0.0833, "0.0833 FLOP/B"),
            (Quantity::new("", "FLOP/B"), 1000.0, "1000 FLOP/B"),
            (Quantity::count(""), 1e300, "1e300"),
            (Quantity::count(""), 1e-300, "1e-300"),
        ];
        for (quantity, value, expected) in cases {
            assert_eq!(quantity.format(value), expected);
        }
    }
}
