//! Whether a starter and its solution differ only where the starter says `TODO`.
//!
//! A starter marks what the learner is to write:
//!
//! ```text
//! // TODO(kernel): what to write here.
//! ...a stub that compiles...
//! // END TODO
//! ```
//!
//! The solution carries no marks: it must consist of the starter's other lines, in order, with
//! anything at all in the place of each marked region.

/// How a starter and its solution have drifted apart. Lines are one-based.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drift {
    /// This line of the starter, outside of every region, is not where the solution should have it.
    Line { line: usize, text: String },
    /// The solution has this line where the starter has nothing marked.
    Extra { line: usize, text: String },
    /// The starter's region that begins here has no end, or its end no beginning.
    Unbalanced { line: usize },
    /// The starter has no region: there is nothing to solve.
    NoRegion,
    /// The solution still has a mark.
    Unsolved { line: usize },
}

impl std::fmt::Display for Drift {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Drift::Line { line, text } => {
                write!(
                    f,
                    "line {line} of the starter lies outside of its TODO regions, but the solution lacks it: {text}"
                )
            }
            Drift::Extra { line, text } => {
                write!(f, "line {line} of the solution is in none of the starter's TODO regions: {text}")
            }
            Drift::Unbalanced { line } => write!(f, "the TODO region at line {line} of the starter is not closed"),
            Drift::NoRegion => f.write_str("the starter has no TODO region"),
            Drift::Unsolved { line } => write!(f, "line {line} of the solution is still a TODO"),
        }
    }
}

impl std::error::Error for Drift {}

fn opens(line: &str) -> bool {
    line.trim_start().starts_with("// TODO(")
}

fn closes(line: &str) -> bool {
    line.trim_start().starts_with("// END TODO")
}

/// Checks that solving only changes the marked regions of the starter.
pub fn check(starter: &str, solution: &str) -> Result<(), Drift> {
    let segments = segments(starter)?;
    let solution: Vec<&str> = solution.lines().collect();
    if let Some(line) = solution.iter().position(|line| opens(line) || closes(line)) {
        return Err(Drift::Unsolved { line: line + 1 });
    }
    let missing = |&(line, text): &(usize, &str)| Drift::Line { line, text: text.to_owned() };
    let (Some((first, rest)), Some(last)) = (segments.split_first(), segments.last()) else {
        return Err(Drift::NoRegion);
    };

    // The first segment begins the solution, the last one ends it, and the others lie between, in order.
    for (i, expected) in first.iter().enumerate() {
        if solution.get(i) != Some(&expected.1) {
            return Err(missing(expected));
        }
    }
    let mut position = first.len();
    for segment in &rest[..rest.len() - 1] {
        let text: Vec<&str> = segment.iter().map(|(_, text)| *text).collect();
        let found = solution[position..].windows(text.len().max(1)).position(|window| window == text);
        match (found, segment.first()) {
            (Some(offset), _) => position += offset + text.len(),
            (None, Some(line)) => return Err(missing(line)),
            // Two regions with nothing between them are one.
            (None, None) => {}
        }
    }
    for (from_end, expected) in last.iter().rev().enumerate() {
        let found = solution.len().checked_sub(from_end + 1).filter(|index| *index >= position);
        match found.map(|index| (index, solution[index])) {
            Some((_, text)) if text == expected.1 => {}
            // Something follows the last segment.
            Some((index, text)) if from_end == 0 && solution[position..].contains(&expected.1) => {
                return Err(Drift::Extra { line: index + 1, text: text.to_owned() });
            }
            _ => return Err(missing(expected)),
        }
    }
    Ok(())
}

/// The numbered lines of a starter before, between and after its regions: one segment more than regions.
fn segments(starter: &str) -> Result<Vec<Vec<(usize, &str)>>, Drift> {
    let mut segments = vec![Vec::new()];
    let mut open: Option<usize> = None;
    for (index, text) in starter.lines().enumerate() {
        let line = index + 1;
        match (open, opens(text), closes(text)) {
            (None, true, _) => open = Some(line),
            (Some(_), _, true) => {
                open = None;
                segments.push(Vec::new());
            }
            (Some(_), true, _) | (None, false, true) => {
                return Err(Drift::Unbalanced { line: open.unwrap_or(line) });
            }
            (Some(_), false, false) => {}
            (None, false, false) => {
                if let Some(segment) = segments.last_mut() {
                    segment.push((line, text));
                }
            }
        }
    }
    match open {
        Some(line) => Err(Drift::Unbalanced { line }),
        None if segments.len() == 1 => Err(Drift::NoRegion),
        None => Ok(segments),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STARTER: &str =
        "head\n// TODO(a): this\nstub\n// END TODO\nmiddle\n  // TODO(b): that\n  // END TODO\ntail\n";

    fn line(line: usize, text: &str) -> Result<(), Drift> {
        Err(Drift::Line { line, text: text.to_owned() })
    }

    #[test]
    fn solving_the_regions_is_no_drift() {
        for solution in ["head\nmiddle\ntail\n", "head\none\ntwo\nmiddle\nthree\ntail\n", "head\nmiddle\nmiddle\ntail"]
        {
            assert_eq!(check(STARTER, solution), Ok(()), "{solution}");
        }
    }

    #[test]
    fn a_change_elsewhere_is_drift() {
        assert_eq!(check(STARTER, "hat\nmiddle\ntail\n"), line(1, "head"));
        assert_eq!(check(STARTER, "head\ntail\n"), line(5, "middle"));
        assert_eq!(check(STARTER, "head\nmiddle\ntale\n"), line(8, "tail"));
        assert_eq!(check(STARTER, ""), line(1, "head"));
        let extra = Drift::Extra { line: 4, text: "more".to_owned() };
        assert_eq!(check(STARTER, "head\nmiddle\ntail\nmore\n"), Err(extra));
    }

    #[test]
    fn a_starter_without_regions_or_with_broken_ones_is_reported() {
        assert_eq!(check("a\n", "a\n"), Err(Drift::NoRegion));
        assert_eq!(check("a\n// TODO(x): y\n", "a\n"), Err(Drift::Unbalanced { line: 2 }));
        assert_eq!(check("// END TODO\n", ""), Err(Drift::Unbalanced { line: 1 }));
        assert_eq!(check("// TODO(x): y\n// TODO(z): y\n// END TODO\n", ""), Err(Drift::Unbalanced { line: 1 }));
    }

    #[test]
    fn a_solution_that_still_has_marks_is_reported() {
        assert_eq!(check(STARTER, STARTER), Err(Drift::Unsolved { line: 2 }));
    }
}
