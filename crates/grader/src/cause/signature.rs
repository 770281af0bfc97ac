//! The parameters of a kernel, as its source has them.

use fusion_cpp::tokens;

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Declared {
    pub(crate) name: String,
    /// The words of its type: `const`, `float`.
    pub(crate) words: Vec<String>,
    pub(crate) pointers: usize,
}

impl Declared {
    /// Its type without what changes nothing for a caller: `unsigned int`.
    pub(crate) fn plain(&self) -> String {
        let words = self.words.iter().map(String::as_str);
        words
            .filter(|word| !matches!(*word, "const" | "volatile" | "restrict" | "__restrict__" | "__restrict"))
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// A kernel's parameters in their order; none where the source declares them in a way that is not followed.
pub(crate) fn parameters(source: &str, kernel: &str) -> Option<Vec<Declared>> {
    let tokens = tokens(source);
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text(source));
    let list = super::declared(&tokens, source, kernel)? + 2;
    let end = (list..tokens.len()).find(|&at| text(at) == ")")?;
    let words: Vec<&str> = (list..end).map(text).collect();
    if words.iter().any(|word| matches!(*word, "(" | "<" | "=" | "#")) {
        return None;
    }
    words.split(|word| *word == ",").map(one).collect()
}

fn one(words: &[&str]) -> Option<Declared> {
    let array = words.iter().position(|word| *word == "[");
    let (name, before) = words[..array.unwrap_or(words.len())].split_last()?;
    let pointers = before.iter().filter(|word| **word == "*").count() + usize::from(array.is_some());
    let words = before.iter().filter(|word| **word != "*").map(|word| (*word).to_owned()).collect::<Vec<_>>();
    (!words.is_empty() && name.starts_with(|c: char| c.is_alphabetic() || c == '_')).then(|| Declared {
        name: (*name).to_owned(),
        words,
        pointers,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_in_their_order() {
        let source = "// k(float* y)\nextern \"C\" __global__ void k(const float* __restrict__ x, unsigned int words[],\n\
                      __nv_bfloat16 *b, float s, const float** rows, size_t n) { f(x); }";
        let found = parameters(source, "k").unwrap();
        let told: Vec<_> = found.iter().map(|one| (one.name.as_str(), one.plain(), one.pointers)).collect();
        let expected = [
            ("x", "float", 1),
            ("words", "unsigned int", 1),
            ("b", "__nv_bfloat16", 1),
            ("s", "float", 0),
            ("rows", "float", 2),
            ("n", "size_t", 0),
        ];
        assert_eq!(told, expected.map(|(name, words, pointers)| (name, words.to_owned(), pointers)));
        assert_eq!(parameters(source, "other"), None);
        assert_eq!(parameters("__global__ void k(std::array<float, 4> a) {}", "k"), None);
        assert_eq!(parameters("__global__ void k() {}", "k"), None);
    }
}
