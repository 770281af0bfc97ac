//! What a newer course has for each exercise, by the files that it changes.

use std::collections::{BTreeMap, BTreeSet};

use super::answers::{self, Answers};
use crate::command::program;

/// By the exercise's name.
#[derive(Debug, Default)]
pub(super) struct News {
    exercises: BTreeMap<String, Changes>,
    /// Other files that changed.
    others: usize,
}

#[derive(Debug, Default)]
struct Changes {
    /// The starter's files.
    starter: BTreeSet<String>,
    specification: bool,
    is_edited: bool,
}

impl News {
    pub(super) fn of(files: &[String], answers: &Answers) -> Self {
        let mut news = Self::default();
        for file in files {
            let of_starter = answers::exercise(file, "starter");
            let name = of_starter.or_else(|| specified(file));
            let Some(name) = name else {
                // A starter's twin is told by the starter.
                news.others += usize::from(answers::exercise(file, "src").is_none());
                continue;
            };
            let changes = news.exercises.entry(name.to_owned()).or_default();
            changes.is_edited = answers.has(name);
            match of_starter {
                Some(_) => drop(changes.starter.insert(file.clone())),
                None => changes.specification = true,
            }
        }
        news
    }

    /// A line for each exercise, and one for the rest.
    pub(super) fn text(&self) -> String {
        let lines = self.exercises.iter().map(|(name, Changes { starter, specification, is_edited })| {
            let mut told = Vec::new();
            if *specification {
                told.push("its specification changed".to_owned());
            }
            if !starter.is_empty() {
                let files = starter.iter().map(String::as_str).collect::<Vec<_>>().join(" and ");
                told.push(match is_edited {
                    true => format!("its starter changed: yours stays, and the new one is {files}"),
                    false => "its starter changed".to_owned(),
                });
            }
            format!("{name}: {}\n", told.join("; "))
        });
        let lines: String = lines.collect();
        let others = match (self.others, lines.is_empty()) {
            (0, _) => String::new(),
            (1, _) => "1 other file of the course changed\n".to_owned(),
            (many, _) => format!("{many} other files of the course changed\n"),
        };
        format!("{lines}{others}\n")
    }

    /// What is to be graded again.
    pub(super) fn next(&self) -> String {
        let edited = self.exercises.iter().filter(|(_, changes)| changes.is_edited);
        let names: Vec<&str> = edited.map(|(name, _)| name.as_str()).collect();
        match names[..] {
            [] => String::new(),
            _ => format!("Grade again: {} grade {}\n", program(), names.join(" ")),
        }
    }
}

/// The exercise whose specification a file is.
fn specified(path: &str) -> Option<&str> {
    let (day, name) = path.strip_prefix("crates/course/src/day")?.split_once('/')?;
    let name = name.strip_suffix(".rs")?;
    (day.bytes().all(|byte| byte.is_ascii_digit()) && !name.contains('/')).then_some(name)
}
