//! What the learner asked for: days and exercises by name.

use fusion_course::{DaySpec, Exercise};

/// Exercises of one day, in the day's order.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    pub(crate) day: &'static DaySpec,
    pub(crate) exercises: Vec<&'static Exercise>,
}

/// A target that names nothing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unknown {
    pub(crate) target: String,
    /// Names like it, nearest first.
    pub(crate) nearest: Vec<String>,
}

impl std::fmt::Display for Unknown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no day or exercise is called `{}`; ", self.target)?;
        let quoted: Vec<String> = self.nearest.iter().map(|name| format!("`{name}`")).collect();
        write!(f, "did you mean {}?", quoted.join(" or "))
    }
}

/// Days in order, each exercise once. No target at all means everything.
pub(crate) fn resolve(targets: &[String], days: &'static [DaySpec]) -> Result<Vec<Selection>, Unknown> {
    let named = |exercise: &Exercise, day: &DaySpec, target: &str| {
        target == "all"
            || target == exercise.name
            || target == day.number.to_string()
            || target.strip_prefix("day").is_some_and(|rest| {
                let rest = rest.trim_start_matches(['-', ' ']);
                rest == day.number.to_string() || rest == format!("{}/{}", day.number, exercise.name)
            })
    };
    let mut found = vec![targets.is_empty(); targets.len()];
    let mut selections = Vec::new();
    for day in days {
        let mut selection = Selection { day, exercises: Vec::new() };
        for exercise in day.exercises {
            let mut asked = targets.is_empty();
            for (target, found) in targets.iter().zip(&mut found) {
                if named(exercise, day, target.trim_end_matches('/')) {
                    *found = true;
                    asked = true;
                }
            }
            if asked {
                selection.exercises.push(exercise);
            }
        }
        if !selection.exercises.is_empty() {
            selections.push(selection);
        }
    }
    match targets.iter().zip(&found).find(|(_, found)| !**found) {
        Some((target, _)) => Err(Unknown { target: target.clone(), nearest: nearest(target, days) }),
        None => Ok(selections),
    }
}

/// The names that need the fewest edits: at most three, and none much further off than the nearest.
fn nearest(target: &str, days: &[DaySpec]) -> Vec<String> {
    let mut names: Vec<String> = vec!["all".to_owned()];
    for day in days {
        names.push(format!("day{}", day.number));
        names.extend(day.exercises.iter().map(|exercise| exercise.name.to_owned()));
    }
    // No name is as long, and to compare takes time.
    let target: String = target.to_lowercase().chars().take(64).collect();
    let distance = |name: &String| strsim::damerau_levenshtein(&target, name);
    names.sort_by_cached_key(distance);
    let furthest = names.first().map_or(0, distance) + 2;
    names.retain(|name| distance(name) <= furthest);
    names.truncate(3);
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(targets: &[&str]) -> Result<Vec<&'static str>, Unknown> {
        let targets: Vec<String> = targets.iter().map(|&target| target.to_owned()).collect();
        let selections = resolve(&targets, fusion_course::days())?;
        Ok(selections.iter().flat_map(|s| &s.exercises).map(|exercise| exercise.name).collect())
    }

    #[test]
    fn a_day_has_several_names() {
        let day22: Vec<&str> = fusion_course::day22::DAY.exercises.iter().map(|e| e.name).collect();
        for target in ["day22", "22", "day-22", "day22/"] {
            assert_eq!(names(&[target]).unwrap(), day22, "{target}");
        }
        assert_eq!(names(&[]).unwrap(), names(&["all"]).unwrap());
    }

    #[test]
    fn exercises_come_once_and_in_order() {
        assert_eq!(names(&["add_gelu"]).unwrap(), ["add_gelu"]);
        assert_eq!(names(&["day22/add_gelu", "add_gelu"]).unwrap(), ["add_gelu"]);
        assert_eq!(names(&["add_gelu", "mul_add"]).unwrap(), ["mul_add", "add_gelu"]);
    }

    #[test]
    fn an_unknown_name_is_told_its_neighbours() {
        let unknown = names(&["day22", "add_gleu"]).unwrap_err();
        assert_eq!(unknown.nearest[0], "add_gelu");
        assert!(unknown.to_string().contains("`add_gleu`; did you mean `add_gelu`"));
        for target in ["", "dya22", "exercise", "dayday", "\u{1f600}"] {
            assert_eq!(names(&[target]).unwrap_err().target, target);
        }
        assert_eq!(names(&["dya22"]).unwrap_err().nearest[0], "day22");
    }
}
