//! One page in one tab: opened, looked at, and what it complained of.

use serde::Deserialize;
use serde_json::{Value, json};

use super::cdp::Cdp;
use super::pages::{PRINT, Pages};
use crate::Failure;

/// What the book looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Theme {
    Light,
    Dark,
}

impl Theme {
    pub(crate) const BOTH: [Theme; 2] = [Theme::Light, Theme::Dark];

    /// mdBook's name for it; the dark one is the book's default for those who prefer dark pages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Theme::Light => "light",
            Theme::Dark => "navy",
        }
    }
}

/// A window's size in CSS pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) name: &'static str,
    pub(crate) width: u32,
    height: u32,
    mobile: bool,
}

/// A desktop's window.
pub(crate) const WIDE: Window = Window { name: "wide", width: 1280, height: 900, mobile: false };
/// A small phone.
pub(crate) const PHONE: Window = Window { name: "phone", width: 360, height: 780, mobile: true };
/// A4 with margins of a centimetre, at 96 pixels an inch.
const PAPER: Window = Window { name: "paper", width: 718, height: 1046, mobile: false };

/// What was found in a page.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) problems: Vec<String>,
    /// Addresses that the page links to.
    pub(crate) links: Vec<String>,
    /// Places in the page that can be linked to.
    pub(crate) ids: Vec<String>,
    pub(crate) formulas: usize,
    pub(crate) pictures: usize,
}

/// What `look.js` returns.
#[derive(Debug, Deserialize)]
struct Looked {
    problems: Vec<String>,
    links: Vec<String>,
    ids: Vec<String>,
    formulas: usize,
    pictures: usize,
}

/// A tab of the browser.
#[derive(Debug)]
pub(crate) struct Tab {
    cdp: Cdp,
    base: String,
    theme_script: Option<Value>,
}

/// Fonts are there and the page has been laid out and drawn.
const SETTLED: &str = "document.fonts.ready.then(() => new Promise(done => \
                       requestAnimationFrame(() => requestAnimationFrame(() => done(true)))))";

impl Tab {
    pub(crate) fn open(mut cdp: Cdp, pages: &Pages) -> Result<Tab, Failure> {
        cdp.attach()?;
        for domain in ["Page", "Runtime", "Log", "Network"] {
            cdp.call(&format!("{domain}.enable"), json!({}))?;
        }
        // The print page opens a dialogue, which would stay open.
        let script = json!({ "source": "window.print = () => {};" });
        cdp.call("Page.addScriptToEvaluateOnNewDocument", script)?;
        Ok(Tab { cdp, base: pages.base().to_owned(), theme_script: None })
    }

    /// Shows all pages in this theme from now on.
    pub(crate) fn set_theme(&mut self, theme: Theme) -> Result<(), Failure> {
        if let Some(identifier) = self.theme_script.take() {
            let old = json!({ "identifier": identifier });
            self.cdp.call("Page.removeScriptToEvaluateOnNewDocument", old)?;
        }
        let source = format!("localStorage.setItem('mdbook-theme', '{}');", theme.name());
        let mut set = self.cdp.call("Page.addScriptToEvaluateOnNewDocument", json!({ "source": source }))?;
        self.theme_script = Some(set["identifier"].take());
        Ok(())
    }

    /// Opens a page and looks at it in windows of these sizes, the print page also on paper.
    pub(crate) fn visit(&mut self, page: &str, windows: &[Window]) -> Result<Seen, Failure> {
        let mut seen = Seen::default();
        let Some((first, others)) = windows.split_first() else { return Ok(seen) };
        self.open_in(page, *first)?;
        self.look(&mut seen, *first)?;
        for window in others {
            self.resize(*window)?;
            self.look(&mut seen, *window)?;
        }
        if page == PRINT {
            self.cdp.call("Emulation.setEmulatedMedia", json!({ "media": "print" }))?;
            self.resize(PAPER)?;
            self.look(&mut seen, PAPER)?;
            self.cdp.call("Emulation.setEmulatedMedia", json!({ "media": "" }))?;
        }
        for event in self.cdp.take_events() {
            seen.problems.extend(complaint(&event, &self.base));
        }
        seen.problems.sort();
        seen.problems.dedup();
        Ok(seen)
    }

    /// Opens a page and waits until it is drawn.
    pub(crate) fn open_in(&mut self, page: &str, window: Window) -> Result<(), Failure> {
        self.resize(window)?;
        self.cdp.take_events();
        self.cdp.call("Page.navigate", json!({ "url": format!("{}{page}", self.base) }))?;
        self.cdp.wait("Page.loadEventFired")?;
        self.cdp.evaluate(SETTLED)?;
        Ok(())
    }

    /// A picture of the whole page as PNG in base 64.
    pub(crate) fn picture(&mut self) -> Result<String, Failure> {
        let metrics = self.cdp.call("Page.getLayoutMetrics", json!({}))?;
        let size = &metrics["cssContentSize"];
        // More than this no viewer shows in one piece.
        let height = size["height"].as_f64().unwrap_or(900.0).min(7000.0);
        let clip = json!({ "x": 0, "y": 0, "width": size["width"], "height": height, "scale": 1 });
        let parameters = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        let mut picture = self.cdp.call("Page.captureScreenshot", parameters)?;
        match picture["data"].take() {
            Value::String(data) => Ok(data),
            _ => Err("Chromium made no picture".to_owned()),
        }
    }

    /// Shows the page as on paper, or as on a screen again.
    pub(crate) fn set_paper(&mut self, paper: bool) -> Result<(), Failure> {
        let media = if paper { "print" } else { "" };
        self.cdp.call("Emulation.setEmulatedMedia", json!({ "media": media }))?;
        if paper { self.resize(PAPER) } else { Ok(()) }
    }

    fn resize(&mut self, window: Window) -> Result<(), Failure> {
        let Window { width, height, mobile, .. } = window;
        let parameters = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile });
        self.cdp.call("Emulation.setDeviceMetricsOverride", parameters)?;
        self.cdp.evaluate(SETTLED)?;
        Ok(())
    }

    fn look(&mut self, seen: &mut Seen, window: Window) -> Result<(), Failure> {
        let paper = window.name == PAPER.name;
        let script =
            format!("({})({}, {paper})", include_str!("look.js").trim_end().trim_end_matches(';'), window.width);
        let looked: Looked = serde_json::from_value(self.cdp.evaluate(&script)?)
            .map_err(|error| format!("the check's own script returns something else: {error}"))?;
        let at = |problem: String| format!("{problem} [{}, {} px]", window.name, window.width);
        seen.problems.extend(looked.problems.into_iter().map(at));
        (seen.links, seen.ids) = (looked.links, looked.ids);
        (seen.formulas, seen.pictures) = (looked.formulas, looked.pictures);
        Ok(())
    }
}

/// What an event of the browser says is wrong with the page.
fn complaint(event: &Value, base: &str) -> Option<String> {
    let parameters = &event["params"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match event["method"].as_str()? {
        "Runtime.consoleAPICalled" if matches!(parameters["type"].as_str(), Some("error" | "warning" | "assert")) => {
            let said: Vec<String> = parameters["args"]
                .as_array()?
                .iter()
                .map(|argument| {
                    argument["value"].as_str().map_or_else(|| text(&argument["description"]), str::to_owned)
                })
                .collect();
            Some(format!("console {}: {}", text(&parameters["type"]), said.join(" ")))
        }
        "Runtime.exceptionThrown" => {
            let details = &parameters["exceptionDetails"];
            Some(format!("script failed: {} {}", text(&details["text"]), text(&details["exception"]["description"])))
        }
        "Log.entryAdded" if matches!(parameters["entry"]["level"].as_str(), Some("error" | "warning")) => {
            let entry = &parameters["entry"];
            Some(format!("browser {}: {} {}", text(&entry["level"]), text(&entry["text"]), text(&entry["url"])))
        }
        "Network.requestWillBeSent" => {
            let address = text(&parameters["request"]["url"]);
            let own = [base, "data:", "blob:", "about:"].iter().any(|start| address.starts_with(start));
            (!own).then(|| format!("asks for something outside of the book: {address}"))
        }
        "Network.loadingFailed" => Some(format!("a request failed: {}", text(&parameters["errorText"]))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_browser_complains_of_is_a_problem_and_the_rest_is_not() {
        let base = "file:///book/";
        let request =
            |url: &str| json!({ "method": "Network.requestWillBeSent", "params": { "request": { "url": url } } });
        assert_eq!(complaint(&request("file:///book/a.css"), base), None);
        assert_eq!(complaint(&request("data:image/png;base64,"), base), None);
        assert!(complaint(&request("https://fonts.example/a.woff"), base).unwrap().contains("outside of the book"));
        assert!(complaint(&request("file:///etc/hosts"), base).is_some());
        let console = |kind: &str| json!({ "method": "Runtime.consoleAPICalled", "params": { "type": kind, "args": [{ "value": "oh" }] } });
        assert_eq!(complaint(&console("error"), base).unwrap(), "console error: oh");
        assert_eq!(complaint(&console("log"), base), None);
        let failed = json!({ "method": "Network.loadingFailed", "params": { "errorText": "net::ERR_FILE_NOT_FOUND" } });
        assert!(complaint(&failed, base).is_some());
        assert_eq!(complaint(&json!({ "method": "Page.loadEventFired" }), base), None);
    }
}
