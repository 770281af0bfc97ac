//! What a page shows of an output that is wider than the page: the columns that are discussed, and sentences in lines that fit. The whole
//! output stands folded below.

use serde::Deserialize;

/// How many columns a code block of the book has room for on a desktop.
pub(crate) const WIDTH: usize = 108;

/// What is shown of one output.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Excerpt {
    /// The output, under `book/src`.
    pub(crate) of: String,
    /// Columns of its tables that are left out, by what stands in their heads.
    #[serde(default)]
    drop: Vec<String>,
    /// Where it begins, below the line that names the command: with the first line that begins with this.
    from: Option<String>,
    /// Where it ends: before the first line that begins with this.
    until: Option<String>,
}

impl Excerpt {
    /// `day23/output/softmax-h200.txt` becomes `day23/output/softmax-h200.cut.txt`.
    pub(crate) fn file(&self) -> String {
        format!("{}.cut.txt", self.of.trim_end_matches(".txt"))
    }

    /// The excerpt of this text, or what is wrong with it.
    pub(crate) fn cut(&self, text: &str) -> Result<String, String> {
        let mut lines = Vec::new();
        // Whether each column of the table at hand stays.
        let mut kept: Option<Vec<bool>> = None;
        let mut dropped = vec![false; self.drop.len()];
        let mut begun = self.from.is_none();
        for (number, line) in text.lines().enumerate() {
            if !begun && number == 0 {
                lines.extend(wrap(line));
                lines.push(String::new());
            }
            begun |= self.from.as_deref().is_some_and(|from| line.starts_with(from));
            if !begun {
                continue;
            }
            if self.until.as_deref().is_some_and(|until| line.starts_with(until)) {
                while lines.last().is_some_and(String::is_empty) {
                    lines.pop();
                }
                lines.extend([String::new(), "...".to_owned()]);
                break;
            }
            if !line.starts_with('|') {
                kept = None;
                lines.extend(wrap(line));
                continue;
            }
            let cells: Vec<&str> = line.trim_matches('|').split('|').collect();
            let kept = kept.get_or_insert_with(|| {
                let mut stays = |cell: &&str| match self.drop.iter().position(|name| name == cell.trim()) {
                    Some(place) => {
                        dropped[place] = true;
                        false
                    }
                    None => true,
                };
                cells.iter().map(&mut stays).collect()
            });
            let stays = cells.iter().zip(kept.iter()).filter(|(_, kept)| **kept).map(|(cell, _)| *cell);
            lines.push(format!("|{}|", stays.collect::<Vec<_>>().join("|")));
        }
        if !begun {
            return Err(format!("no line of {} begins with `{}`", self.of, self.from.as_deref().unwrap_or_default()));
        }
        if let Some((name, _)) = self.drop.iter().zip(dropped).find(|(_, dropped)| !dropped) {
            return Err(format!("no table of {} has a column `{name}`", self.of));
        }
        match lines.iter().find(|line| line.chars().count() > WIDTH) {
            Some(line) => Err(format!(
                "the excerpt of {} is {} columns wide where there is room for {WIDTH}: drop more columns\n  {line}",
                self.of,
                line.chars().count()
            )),
            None => Ok(lines.join("\n") + "\n"),
        }
    }
}

/// A line in lines that fit, which begin where it begins.
fn wrap(line: &str) -> Vec<String> {
    if line.chars().count() <= WIDTH {
        return vec![line.to_owned()];
    }
    let indent: String = line.chars().take_while(|c| *c == ' ').collect();
    let mut lines: Vec<String> = Vec::new();
    for word in line.trim_start().split(' ') {
        match lines.last_mut() {
            Some(last) if last.chars().count() + 1 + word.chars().count() <= WIDTH => {
                last.push(' ');
                last.push_str(word);
            }
            _ => lines.push(format!("{indent}{word}")),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str =
        "a table\n\n| n | time | speedup |\n|---|------|---------|\n| 1 | 2 us |   1.00x |\n\nSizes:\n1\n";

    fn excerpt(drop: &[&str], until: Option<&str>) -> Excerpt {
        let drop = drop.iter().map(|name| (*name).to_owned()).collect();
        Excerpt { of: "a/output/b.txt".into(), drop, from: None, until: until.map(str::to_owned) }
    }

    #[test]
    fn columns_go_and_the_rest_stays() {
        let cut = excerpt(&["time"], Some("Sizes")).cut(TABLE).unwrap();
        assert_eq!(cut, "a table\n\n| n | speedup |\n|---|---------|\n| 1 |   1.00x |\n\n...\n");
        let from = Excerpt { from: Some("Sizes".into()), ..excerpt(&[], None) };
        assert_eq!(from.cut(TABLE).unwrap(), "a table\n\nSizes:\n1\n");
        assert_eq!(excerpt(&[], None).file(), "a/output/b.cut.txt");
    }

    #[test]
    fn an_excerpt_that_fits_no_longer_is_an_error() {
        assert!(excerpt(&["bytes"], None).cut(TABLE).unwrap_err().contains("`bytes`"));
        let wide = format!("| {} |", "x".repeat(120));
        assert!(excerpt(&[], None).cut(&wide).unwrap_err().contains("drop more columns"));
        let words = "word ".repeat(40);
        assert!(excerpt(&[], None).cut(&words).unwrap().lines().all(|line| line.len() <= WIDTH));
    }
}
