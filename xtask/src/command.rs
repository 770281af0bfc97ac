//! How this program is called, in what others read.

/// How the learner is to call this program.
pub(crate) fn program() -> String {
    if std::env::var_os("CARGO").is_some() {
        return "cargo xtask".to_owned();
    }
    std::env::args().next().unwrap_or_else(|| "xtask".to_owned())
}

/// The command as another reader would give it.
pub(crate) fn command() -> String {
    repeatable(std::env::args().skip(1))
}

/// Without what depends on where it was given: whether the programs lay there built, and where pictures went.
fn repeatable(arguments: impl Iterator<Item = String>) -> String {
    let mut words = vec!["cargo".to_owned(), "xtask".to_owned()];
    for word in arguments.filter(|word| !matches!(word.as_str(), "--no-build" | "--prebuilt")) {
        let folder = words.last().is_some_and(|last| last == "--svg");
        let word = if word.starts_with("--svg=") { "--svg=pictures".to_owned() } else { word };
        words.push(if folder { "pictures".to_owned() } else { word });
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_the_same_wherever_it_is_given() {
        let words = ["bench", "softmax", "--no-build", "--svg", "/somewhere/else", "--solutions"];
        let command = repeatable(words.into_iter().map(str::to_owned));
        assert_eq!(command, "cargo xtask bench softmax --svg pictures --solutions");
        let command = repeatable(["bench", "--svg=/somewhere/else", "softmax"].into_iter().map(str::to_owned));
        assert_eq!(command, "cargo xtask bench --svg=pictures softmax");
    }
}
