//! Links within the book, and whether they lead anywhere.

use std::collections::{BTreeMap, BTreeSet};

use super::pages::Pages;
use super::visit::Seen;

/// What all pages link to, and where one can link to.
#[derive(Debug, Default)]
pub(crate) struct Links {
    places: BTreeMap<String, BTreeSet<String>>,
    links: BTreeMap<String, BTreeSet<String>>,
}

impl Links {
    /// A page's links and places.
    pub(crate) fn add(&mut self, page: &str, seen: Seen) {
        self.places.entry(page.to_owned()).or_default().extend(seen.ids);
        self.links.entry(page.to_owned()).or_default().extend(seen.links);
    }

    pub(crate) fn count(&self) -> usize {
        self.links.values().map(BTreeSet::len).sum()
    }

    /// Links that lead nowhere. Those out of the book are not followed: that would take a network.
    pub(crate) fn broken(&self, pages: &Pages, only: Option<&str>) -> Vec<String> {
        let mut broken = Vec::new();
        for (page, links) in self.links.iter().filter(|(page, _)| only.is_none_or(|only| page.contains(only))) {
            for link in links {
                if let Some(why) = self.problem(link, pages.base(), |file| pages.has(file)) {
                    broken.push(format!("{page}: {why}"));
                }
            }
        }
        broken
    }

    fn problem(&self, link: &str, base: &str, has: impl Fn(&str) -> bool) -> Option<String> {
        let Some(inside) = link.strip_prefix(base) else {
            let outside = ["http://", "https://", "mailto:"].iter().any(|start| link.starts_with(start));
            return (!outside).then(|| format!("a link leads out of the book: {link}"));
        };
        let (file, place) = inside.split_once('#').unwrap_or((inside, ""));
        let (file, place) = (decode(file.split('?').next().unwrap_or(file)), decode(place));
        if !has(&file) {
            return Some(format!("a link leads to no page: {file}"));
        }
        let known = |places: &BTreeSet<String>| place.is_empty() || place == "top" || places.contains(&place);
        let found = self.places.get(&file).is_none_or(known);
        (!found).then(|| format!("a link leads to no place in a page: {file}#{place}"))
    }
}

/// Undoes `%20` and its like.
fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match hex.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|_| first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_must_lead_to_a_page_and_a_place_in_it() {
        let mut links = Links::default();
        links.add("day22/index.html", Seen { ids: vec!["goals".into(), "a b".into()], ..Seen::default() });
        let problem =
            |link: &str| links.problem(link, "file:///book/", |file| ["day22/index.html", "a.css"].contains(&file));
        for right in
            ["day22/index.html", "day22/index.html#goals", "day22/index.html#", "day22/index.html#a%20b", "a.css"]
        {
            assert_eq!(problem(&format!("file:///book/{right}")), None, "{right}");
        }
        assert_eq!(problem("https://example.org/"), None);
        assert!(problem("file:///book/day23/index.html").unwrap().contains("no page"));
        assert!(problem("file:///book/day22/index.html#goal").unwrap().contains("no place"));
        assert!(problem("file:///etc/hosts").unwrap().contains("out of the book"));
        assert!(problem("javascript:alert(1)").is_some());
    }
}
