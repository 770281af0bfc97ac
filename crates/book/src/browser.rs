//! Opens every page of the book in a headless Chromium and looks for what a reader would stumble over.

mod cdp;
mod chromium;
mod links;
mod pages;
mod screenshots;
mod visit;

use std::fmt;
use std::path::Path;
use std::process::Command;

use crate::Failure;
use chromium::Chromium;
use links::Links;
use pages::Pages;
use visit::{PHONE, Tab, Theme, WIDE};

/// Builds the book and visits its pages. Returns whether all are well.
pub(crate) fn run(root: &Path, screenshots: Option<&Path>, only: Option<&str>) -> Result<bool, Failure> {
    let built = tempfile::tempdir().map_err(|error| format!("cannot make a temporary folder: {error}"))?;
    build(root, built.path())?;
    let pages = Pages::of(built.path())?;
    if let Some(only) = only.filter(|only| !pages.names().any(|page| page.contains(only))) {
        return Err(format!("no page of the book has `{only}` in its path: try `day23` or `appendix/`"));
    }
    let browser = Chromium::start()?;
    let mut tab = Tab::open(browser.connect()?, &pages)?;
    let report = inspect(&mut tab, &pages, only)?;
    if let Some(folder) = screenshots {
        screenshots::take(&mut tab, &pages, folder, only)?;
    }
    print!("{report}");
    Ok(report.problems.is_empty())
}

/// What was found in a book.
#[derive(Debug, Default)]
struct Report {
    problems: Vec<String>,
    pages: usize,
    formulas: usize,
    pictures: usize,
    links: usize,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for problem in &self.problems {
            writeln!(f, "{problem}")?;
        }
        let Report { problems, pages, formulas, pictures, links } = self;
        let problems = problems.len();
        writeln!(
            f,
            "{pages} pages in a light and a dark theme, wide and on a phone: {formulas} formulas, {pictures} pictures, {links} links, \
             {problems} problems"
        )
    }
}

/// Visits all pages in both themes: links lead to pages that were not asked for, too.
fn inspect(tab: &mut Tab, pages: &Pages, only: Option<&str>) -> Result<Report, Failure> {
    let mut report = Report { pages: pages.names().count(), ..Report::default() };
    let mut links = Links::default();
    for theme in Theme::BOTH {
        tab.set_theme(theme)?;
        for page in pages.names() {
            let seen = tab.visit(page, &[PHONE, WIDE])?;
            if only.is_none_or(|only| page.contains(only)) {
                let told = seen.problems.iter().map(|problem| format!("{page} ({}): {problem}", theme.name()));
                report.problems.extend(told);
            }
            if theme == Theme::Light && page != pages::PRINT {
                report.formulas += seen.formulas;
                report.pictures += seen.pictures;
            }
            links.add(page, seen);
        }
    }
    report.problems.extend(links.broken(pages, only));
    report.links = links.count();
    Ok(report)
}

fn build(root: &Path, into: &Path) -> Result<(), Failure> {
    let done = Command::new("mdbook").arg("build").arg(root.join("book")).arg("--dest-dir").arg(into).output();
    let done = done.map_err(|error| {
        format!("cannot run mdbook: {error}. Install it with: cargo install mdbook --version 0.5.4 --locked")
    })?;
    let said = String::from_utf8_lossy(&done.stderr);
    if !done.status.success() || said.contains("WARN") || said.contains("ERROR") {
        return Err(format!("mdbook build book is not clean:\n{}", said.trim_end()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "<!DOCTYPE html><html><head><meta charset=\"utf-8\"><title>t</title>\
                        <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"></head><body><main>";

    fn inspect_pages(bodies: &[(&str, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for (name, body) in bodies {
            std::fs::write(folder.path().join(name), format!("{HEAD}{body}</main></body></html>")).unwrap();
        }
        let pages = Pages::of(folder.path()).unwrap();
        let browser = Chromium::start().unwrap();
        let mut tab = Tab::open(browser.connect().unwrap(), &pages).unwrap();
        inspect(&mut tab, &pages, None).unwrap().problems
    }

    /// `.ci/run` runs it, where there is a browser.
    #[test]
    #[ignore = "needs Chromium: cargo test -p fusion-book -- --ignored"]
    fn every_kind_of_problem_is_found() {
        let long = "x".repeat(400);
        let cases: &[(&str, String)] = &[
            ("console error: oh no", "<script>console.error('oh', 'no')</script>".into()),
            ("console warning: hm", "<script>console.warn('hm')</script>".into()),
            ("script failed", "<script>nothing.there()</script>".into()),
            (
                "asks for something outside of the book: https://example.org/a.png",
                "<img alt='' src='https://example.org/a.png'>".into(),
            ),
            ("a request failed", "<img alt='' src='missing.png'>".into()),
            ("a picture did not load", "<img alt='' src='missing.png'>".into()),
            ("a link leads to no page: nowhere.html", "<a href='nowhere.html'>there</a>".into()),
            ("a link leads to no place in a page: page0.html#none", "<a href='page0.html#none'>there</a>".into()),
            ("a link leads out of the book", "<a href='../../outside.html'>there</a>".into()),
            ("a formula has no size", "<math><mi></mi></math>".into()),
            ("a formula has an error", "<math><merror><mtext>no</mtext></merror></math>".into()),
            ("a formula shows LaTeX", "<math><mtext>\\frac</mtext></math>".into()),
            ("a formula is badly nested", "<math><mspace><mi>x</mi></mspace></math>".into()),
            ("a picture has no title", "<figure><svg width=9 height=9><text>a</text></svg></figure>".into()),
            ("source text is left in the page: so $$x$$", "<p>so $$x$$</p>".into()),
            ("source text is left in the page: {{#include", "<pre>{{#include a.txt}}</pre>".into()),
            ("code is wider than its column", format!("<pre style='overflow-x:auto'>a\nb\n{long}</pre>")),
            (
                "line 3, 400 columns",
                format!("<pre><code style='display:block;overflow-x:auto'>a\nb\n{long}</code></pre>"),
            ),
            (
                "code is not highlighted",
                format!("<pre style='overflow-x:auto'><code class='language-cpp'>{long}</code></pre>"),
            ),
            ("text flows around", "<pre style='float: right'>a</pre>".into()),
            ("the page's text is ", format!("<p>{long}</p>")),
            ("wider than the page by", format!("<p><code>{long}</code></p>")),
            ("the page is ", "<div style='width: 2000px; height: 9px'></div>".into()),
        ];
        let names: Vec<String> = (0..cases.len()).map(|case| format!("page{case}.html")).collect();
        let bodies: Vec<(&str, &str)> =
            names.iter().zip(cases).map(|(name, (_, body))| (name.as_str(), body.as_str())).collect();
        let problems = inspect_pages(&bodies);
        for (name, (expected, body)) in names.iter().zip(cases) {
            let found = problems.iter().any(|problem| problem.starts_with(name.as_str()) && problem.contains(expected));
            assert!(found, "{body}\nshould be told: {expected}\nwas told: {problems:#?}");
        }
    }

    #[test]
    #[ignore = "needs Chromium: cargo test -p fusion-book -- --ignored"]
    fn a_page_without_problems_has_none() {
        let long = "x".repeat(400);
        let fine = format!(
            "<h1 id='top-of-it'>A page</h1><p><a href='#top-of-it'>up</a> <a href='https://example.org'>out</a></p>\
             <div style='overflow-x: auto'><math display='block'><mfrac><mi>a</mi><mi>b</mi></mfrac></math></div>\
             <pre><code>$$ \\frac</code></pre>\
             <details><summary>all of it</summary><pre style='overflow-x: auto'><code>{long}</code></pre></details>\
             <figure><svg width='90' height='20'><title>t</title><text y='15'>a</text></svg></figure>"
        );
        assert_eq!(inspect_pages(&[("index.html", &fine)]), Vec::<String>::new());
    }
}
