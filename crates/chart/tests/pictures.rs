//! What holds for every picture, whatever its data.
#![allow(clippy::unwrap_used)]

use assert_approx_eq::assert_approx_eq;
use fusion_chart::*;

fn heading(title: &str) -> Heading {
    Heading {
        title: title.into(),
        basis: Basis::Measured,
        source: "NVIDIA H200, driver 580, 2026-11-21, cargo xtask bench add_gelu".into(),
    }
}

/// Values that no axis can show, and those at the edge of what it can.
const EXTREMES: [f64; 9] =
    [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE, 5e-324, 1.0];

fn roofline(title: &str, bandwidth: &[f64], peak: &[f64], points: &[(&str, f64, f64)]) -> Roofline {
    let ceilings = |label: &str, values: &[f64]| {
        values.iter().map(|&value| Ceiling { label: label.into(), value }).collect::<Vec<_>>()
    };
    Roofline {
        heading: heading(title),
        bandwidths: ceilings("DRAM", bandwidth),
        peaks: ceilings("float32 FMA", peak),
        points: points
            .iter()
            .map(|&(label, intensity, rate)| RooflinePoint { label: label.into(), intensity, rate })
            .collect(),
    }
}

fn lines(title: &str, series: &[(&str, Vec<(f64, f64)>)], rules: &[f64]) -> LineChart {
    LineChart {
        heading: heading(title),
        x: Quantity::count("elements"),
        y: Quantity::bytes_per_second("bytes moved a second"),
        series: series.iter().map(|(name, points)| Series { name: (*name).into(), points: points.clone() }).collect(),
        rules: rules.iter().map(|&value| Rule { label: "copy".into(), value }).collect(),
    }
}

/// A step's name, bytes read and bytes written.
type Step = (&'static str, f64, f64);

fn traffic(title: &str, bars: &[(&str, &[Step])]) -> TrafficChart {
    let step = |&(name, read, written): &Step| TrafficStep { name: name.into(), read, written };
    TrafficChart {
        heading: heading(title),
        bars: bars
            .iter()
            .map(|(name, steps)| TrafficBar { name: (*name).into(), steps: steps.iter().map(step).collect() })
            .collect(),
    }
}

fn nasty_traffic(text: &str) -> TrafficChart {
    let mut chart = traffic(text, &[(text, &[("", 1.0, 1.0)])]);
    chart.bars[0].steps[0].name = text.into();
    chart
}

fn warps(title: &str, kinds: &[&str], spans: &[(f64, f64)]) -> WarpChart {
    let span = |(at, &(from, to)): (usize, &(f64, f64))| WarpSpan { warp: at % 8, kind: at % kinds.len(), from, to };
    WarpChart {
        heading: heading(title),
        accesses: vec![AccessRow { label: title.into(), sectors: vec![(0, 0b1111), (7, 1)], passes: 0 }],
        kinds: kinds.iter().map(|kind| (*kind).into()).collect(),
        spans: spans.iter().enumerate().map(span).collect(),
    }
}

fn pictures() -> Vec<(&'static str, String)> {
    let nasty = "<&>\"' \u{0}\n\n {{#include x}} ]]> \u{ffff} 積 ".repeat(12);
    let mut all = vec![
        (
            "usual roofline",
            roofline(
                "add_gelu",
                &[4.8e12, 10e12],
                &[67e12],
                &[("unfused", 0.5, 1.2e12), ("fused", 0.83, 3.1e12), ("fused, 16-byte", 0.83, 3.8e12)],
            )
            .render(),
        ),
        ("empty roofline", roofline("", &[], &[], &[]).render()),
        ("one point, no roof", roofline("", &[], &[], &[("one", 1.0, 1e9)]).render()),
        ("a roof, no points", roofline("", &[1e12], &[1e13], &[]).render()),
        ("points in one place", roofline("", &[1e12], &[1e13], &[("same", 1.0, 1e12); 20]).render()),
        ("nasty roofline", roofline(&nasty, &[1e12], &[1e13], &[(&nasty, 1.0, 1e12), (&nasty, 2.0, 1e12)]).render()),
        (
            "usual lines",
            lines(
                "add_gelu",
                &[("unfused", vec![(4096.0, 1e9), (65536.0, 3e11)]), ("fused", vec![(4096.0, 2e9), (65536.0, 6e11)])],
                &[4.1e12],
            )
            .render(),
        ),
        ("no lines", lines("", &[], &[]).render()),
        ("a line without points", lines("", &[("none", vec![])], &[]).render()),
        ("one point", lines("", &[("one", vec![(1.0, 1.0)])], &[]).render()),
        ("nasty lines", lines(&nasty, &[(&nasty, vec![(1.0, 1.0)]), (&nasty, vec![(1.0, 1.0)])], &[2.0]).render()),
        ("many lines", lines("", &vec![("a series of some length", vec![(1.0, 1.0), (2.0, 3.0)]); 40], &[]).render()),
        (
            "usual traffic",
            traffic(
                "add_gelu",
                &[("unfused", &[("add", 8.0, 4.0), ("gelu", 4.0, 4.0)]), ("fused", &[("add_gelu", 8.0, 4.0)])],
            )
            .render(),
        ),
        ("no traffic", traffic("", &[]).render()),
        ("empty bars", traffic("", &[("unfused", &[]), ("fused", &[("nothing", 0.0, 0.0)])]).render()),
        ("nasty traffic", nasty_traffic(&nasty).render()),
        ("words that fill a line", nasty_traffic(&"a".repeat(200)).render()),
        ("usual warps", warps("load", &["instructions", "memory"], &[(0.0, 5680.0), (50.0, 5000.0)]).render()),
        ("warps that end at a tick", warps("load", &["instructions"], &[(0.0, 100_000.0)]).render()),
        ("nasty warps", warps(&nasty, &[&nasty, "memory"], &[(0.0, 1.0), (1.0, 2.0)]).render()),
    ];
    for a in EXTREMES {
        for b in EXTREMES {
            all.push(("extreme roofline", roofline("", &[a, b], &[b], &[("p", a, b), ("q", b, a)]).render()));
            all.push(("extreme ceilings", roofline("", &[1e12], &[a], &[("p", b, 1e12)]).render()));
            all.push(("extreme lines", lines("", &[("s", vec![(a, b), (b, a)])], &[a]).render()));
            all.push(("extreme warps", warps("", &["instructions", "memory"], &[(a, b), (0.0, b), (a, 1.0)]).render()));
            all.push(("extreme traffic", traffic("", &[("bar", &[("s", a, b), ("t", b, 1.0)])]).render()));
        }
    }
    all
}

#[test]
fn pictures_are_well_formed_and_named() {
    for (name, svg) in pictures() {
        let tree = roxmltree::Document::parse(&svg).unwrap_or_else(|error| panic!("{name}: {error}\n{svg}"));
        let root = tree.root_element();
        let child = |tag: &str| root.children().find(|node| node.has_tag_name(("http://www.w3.org/2000/svg", tag)));
        assert!(child("title").unwrap().text().unwrap().contains("(measured)"), "{name}");
        assert!(!child("desc").unwrap().text().unwrap().is_empty(), "{name}");
        assert_eq!(root.attribute("role"), Some("img"));
        let first = svg.lines().next().unwrap();
        assert!(first.contains("NVIDIA H200, driver 580, 2026-11-21, cargo xtask bench add_gelu"), "{name}: {first}");
        // A blank line would end the HTML block that the picture stands in; "{{#" would be a directive of the book.
        assert!(!svg.trim_end().lines().any(|line| line.trim().is_empty()), "{name}:\n{svg}");
        assert!(!svg.contains("{{"), "{name}");
        assert!(!svg.contains(" id="), "{name}: an id could occur twice in a page");
    }
}

/// Numbers in an attribute.
fn numbers(text: &str) -> Vec<f64> {
    text.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'))
        .filter(|part| !part.is_empty())
        .map(|part| part.parse().unwrap())
        .collect()
}

/// From where to where a text goes in fonts that are wide. Bold letters are wider by about 6% (Liberation Sans, DejaVu Sans).
fn sides(text: &roxmltree::Node) -> (f64, f64) {
    let number = |key: &str| text.attribute(key).unwrap().parse::<f64>().unwrap();
    let weight = if text.attribute("font-weight").is_some() { 1.06 } else { 1.0 };
    let width = weight * text_width(text.text().unwrap_or(""), number("font-size"));
    let left = match text.attribute("text-anchor") {
        Some("start") => number("x"),
        Some("middle") => number("x") - width / 2.0,
        _ => number("x") - width,
    };
    (left, left + width)
}

#[test]
fn all_numbers_are_finite_and_all_text_is_inside_and_legible() {
    for (name, svg) in pictures() {
        for word in ["NaN", "inf"] {
            assert!(!svg.contains(word), "{name} says {word}:\n{svg}");
        }
        let tree = roxmltree::Document::parse(&svg).unwrap();
        let size = numbers(tree.root_element().attribute("viewBox").unwrap());
        let (width, height) = (size[2], size[3]);
        assert_eq!(width, 720.0);
        for node in tree.descendants().filter(|node| node.is_element()) {
            let number = |key: &str| node.attribute(key).map(|value| value.parse::<f64>().unwrap());
            if node.tag_name().name() == "text" {
                let (y, font) = (number("y").unwrap(), number("font-size").unwrap());
                assert!(font >= 12.0, "{name}: {font}");
                let (text, (left, right)) = (node.text(), sides(&node));
                // The longest of an axis' values nearly fill their margin.
                assert!(left >= -2.0 && right <= width, "{name}: {text:?} from {left} to {right}");
                assert!(y - font >= -1.0 && y <= height, "{name}: {text:?} at {y}");
            }
            if let Some(path) = node.attribute("d") {
                assert!(numbers(path).iter().all(|n| n.abs() <= 2000.0), "{name}: {path}");
            }
            if node.tag_name().name() == "rect" {
                let right = number("x").unwrap() + number("width").unwrap();
                assert!(right <= width + 0.5 && number("width").unwrap() >= 0.0, "{name}");
            }
        }
    }
}

#[test]
fn the_same_data_give_the_same_text() {
    assert_eq!(pictures(), pictures());
}

#[test]
fn a_roofline_says_what_it_shows() {
    let svg = roofline("add_gelu", &[4e12], &[60e12], &[("unfused", 0.5, 1e12), ("fused", 0.75, 2.4e12)]).render();
    for expected in
        ["ridge 15 FLOP/B", "DRAM 4 TB/s", "float32 FMA 60 TFLOP/s", "fused: 0.75 FLOP/B, 2.4 TFLOP/s, 80% of the roof"]
    {
        assert!(svg.contains(expected), "no {expected:?} in\n{svg}");
    }
    assert!(svg.contains(">unfused</text>") && svg.contains(">fused</text>"), "points have their names beside them");
}

#[test]
fn a_second_roof_begins_in_the_picture() {
    let svg = roofline("roofs", &[4e12, 9e12], &[60e12, 700e12], &[]).render();
    let tree = roxmltree::Document::parse(&svg).unwrap();
    // Roofs are the lines that go sideways only, as thick as slopes.
    let roofs = tree.descendants().filter(|node| node.attribute("stroke-width") == Some("2"));
    let roofs: Vec<Vec<f64>> =
        roofs.filter_map(|node| node.attribute("d")).filter(|d| d.contains('H')).map(numbers).collect();
    assert_eq!(roofs.len(), 2, "{svg}");
    assert!(roofs.iter().all(|roof| roof[0] + 50.0 < roof[2]), "{roofs:?}");
    let ridges = ridges(&tree);
    assert_eq!(ridges.iter().map(|ridge| ridge.name).collect::<Vec<_>>(), ["ridge 15 FLOP/B", "ridge 175 FLOP/B"]);
    // A ridge is at the lowest slope, and its roof begins at the highest one.
    for (ridge, roof) in ridges.iter().zip(&roofs) {
        assert!(ridge.x > roof[0] + 20.0 && ridge.x < roof[2], "{ridge:?} {roof:?}");
    }
    let one = roofline("roof", &[4e12], &[60e12], &[]).render();
    assert_eq!(self::ridges(&roxmltree::Document::parse(&one).unwrap()).len(), 1, "{one}");
}

/// A dotted line and the name beside it.
#[derive(Debug)]
struct Ridge<'a> {
    x: f64,
    name: &'a str,
    sides: (f64, f64),
    baseline: f64,
}

fn ridges<'a>(tree: &'a roxmltree::Document) -> Vec<Ridge<'a>> {
    let lines = tree.descendants().filter(|node| node.attribute("stroke-dasharray") == Some("2 4"));
    let lines: Vec<f64> = lines.map(|line| numbers(line.attribute("d").unwrap())[0]).collect();
    let texts = tree.descendants().filter(|node| node.tag_name().name() == "text");
    let names: Vec<_> = texts.filter(|node| node.text().is_some_and(|text| text.starts_with("ridge "))).collect();
    assert_eq!(lines.len(), names.len());
    let ridge = |(x, name): (f64, roxmltree::Node<'a, '_>)| Ridge {
        x,
        name: name.text().unwrap(),
        sides: sides(&name),
        baseline: name.attribute("y").unwrap().parse().unwrap(),
    };
    lines.into_iter().zip(names).map(ridge).collect()
}

#[test]
fn each_ridge_has_a_name_that_nothing_is_on() {
    for second in [60e12, 66e12, 80e12, 120e12, 700e12, 30000e12] {
        let svg = roofline("roofs", &[4e12], &[60e12, second], &[("a point", 0.1, 1e11)]).render();
        let tree = roxmltree::Document::parse(&svg).unwrap();
        let ridges = ridges(&tree);
        for Ridge { x, sides: (left, right), .. } in &ridges {
            let beside = (left - x).abs().min((right - x).abs());
            assert!(beside < 7.0, "{second}: {ridges:?}");
            assert!(!ridges.iter().any(|other| (*left..*right).contains(&other.x)), "{second}: {ridges:?}");
        }
        let [one, other] = &ridges[..] else { panic!("{svg}") };
        let beside = one.sides.1 <= other.sides.0 || other.sides.1 <= one.sides.0;
        assert!(beside || (one.baseline - other.baseline).abs() > 13.0, "{second}: {ridges:?}");
    }
}

#[test]
fn series_differ_in_more_than_colour() {
    let svg = lines("", &[("a", vec![(1.0, 1.0), (2.0, 2.0)]), ("b", vec![(1.0, 3.0), (2.0, 4.0)])], &[]).render();
    assert!(svg.contains("--chart-1,#") && svg.contains("--chart-2,#"), "{svg}");
    assert!(svg.contains("stroke-dasharray=\"8 4\""), "{svg}");
}

#[test]
fn a_traffic_bar_is_as_long_as_its_bytes() {
    let svg = traffic(
        "add_gelu",
        &[("unfused", &[("add", 8.0, 4.0), ("gelu", 4.0, 4.0)]), ("fused", &[("add_gelu", 8.0, 4.0)])],
    )
    .render();
    assert!(svg.contains("unfused: 20 B") && svg.contains("fused: 12 B"), "{svg}");
    let tree = roxmltree::Document::parse(&svg).unwrap();
    let widths: Vec<f64> = tree
        .descendants()
        .filter(|node| node.attribute("height") == Some("34.0"))
        .map(|node| node.attribute("width").unwrap().parse().unwrap())
        .collect();
    assert_eq!(widths.len(), 6);
    let (unfused, fused) = (widths[..4].iter().sum::<f64>(), widths[4..].iter().sum::<f64>());
    assert_approx_eq!(unfused / fused, 20.0 / 12.0, 0.01);
}

/// Relative luminance of `#rrggbb` (WCAG 2.2, "relative luminance").
fn luminance(colour: &str) -> f64 {
    let channel = |at: usize| {
        let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
}

fn contrast(a: &str, b: &str) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn the_books_colours_stand_out_from_its_pages() {
    let css = include_str!("../../../book/theme/course.css");
    let block = |start: &str| css.split(start).nth(1).unwrap().split('}').next().unwrap().to_owned();
    // Backgrounds and text of mdBook's themes.
    let themes = [
        (block(":root {"), [("#ffffff", "#000000"), ("#e1e1db", "#262625")].as_slice()),
        (block(".ayu {"), [("#141617", "#98a3ad"), ("#161923", "#bcbdd0"), ("#0f1419", "#c5c5c5")].as_slice()),
        (block("html:root {"), [("#ffffff", "#000000")].as_slice()),
    ];
    for (block, pages) in themes {
        let value = |name: &str| {
            let start = format!("--chart-{name}: ");
            block.split(&start).nth(1).unwrap_or_else(|| panic!("no {start} in {block}")).split(';').next().unwrap()
        };
        for name in ["1", "2", "3", "4", "5", "6", "axis"] {
            let colour = value(name);
            for (background, of_theme) in pages {
                // WCAG 2.2, 1.4.11: graphics need 3 to 1.
                let graphics = contrast(colour, background);
                assert!(graphics >= 3.0, "--chart-{name}, {colour} on {background}: {graphics:.2}");
                // WCAG 2.2, 1.4.3: text needs 4.5 to 1, also in boxes of panels and in bars of bytes.
                let text = Some(value("text")).filter(|text| text.starts_with('#')).unwrap_or(of_theme);
                for opacity in [0.30, 0.42] {
                    let shade = shade(colour, background, opacity);
                    let contrast = contrast(text, &shade);
                    assert!(contrast >= 4.5, "{text} on --chart-{name} at {opacity}, {shade}: {contrast:.2}");
                }
            }
        }
    }
}

/// A colour over another one.
fn shade(colour: &str, background: &str, opacity: f64) -> String {
    let channel = |text: &str, at: usize| f64::from(u8::from_str_radix(&text[at..at + 2], 16).unwrap());
    let mixed = [1, 3, 5].map(|at| opacity * channel(colour, at) + (1.0 - opacity) * channel(background, at));
    format!("#{:02x}{:02x}{:02x}", mixed[0].round() as u8, mixed[1].round() as u8, mixed[2].round() as u8)
}

/// Panels with a made-up device.
fn panels() -> Vec<ideas::Panel> {
    let device = ideas::Device {
        name: "H200".into(),
        sms: 132,
        registers: 262_144,
        shared: 233_472,
        l1: 262_144,
        l2: 62_914_560,
        memory: 150_754_820_096,
    };
    let waits = ideas::Waits { shared: 14.5, l1: 26.0, l2: 153.0, dram: 342.0, source: "a machine".into() };
    [ideas::panels(&device, &waits), vec![matrix()]].concat()
}

/// A matrix of as many places as one has.
fn matrix() -> ideas::Panel {
    let cell = |row: usize, column: usize| match row == column {
        true => ideas::Cell::used(&format!("{row}:{column}")),
        false => ideas::Cell::plain(&format!("{row}:{column}")),
    };
    ideas::Grid {
        name: "matrix".into(),
        title: "8 x 8 places".into(),
        corner: "row, column".into(),
        columns: (0..8).map(|column| format!("{}-{}", 2 * column, 2 * column + 1)).collect(),
        rows: (0..8).map(|row| (row.to_string(), (0..8).map(|column| cell(row, column)).collect())).collect(),
        says: "In colour: the diagonal.".into(),
        source: "a test".into(),
    }
    .panel()
}

#[test]
fn ideas_are_named_well_formed_and_their_texts_are_apart() {
    let panels = panels();
    for panel in &panels {
        let (name, svg) = (&panel.name, &panel.svg);
        let tree = roxmltree::Document::parse(svg).unwrap_or_else(|error| panic!("{name}: {error}\n{svg}"));
        let text = |tag: &str| tree.descendants().find(|node| node.tag_name().name() == tag).unwrap().text().unwrap();
        assert!(text("title").len() > 5 && text("desc").len() > 40, "{name}");
        assert!(!svg.contains("NaN") && !svg.contains("inf") && !svg.contains("{{"), "{name}");
        assert!(!svg.trim_end().lines().any(|line| line.trim().is_empty()), "{name}");
        let size = numbers(tree.root_element().attribute("viewBox").unwrap());
        let mut boxes: Vec<(f64, f64, f64, f64, &str)> = Vec::new();
        for node in tree.descendants().filter(|node| node.tag_name().name() == "text") {
            let number = |key: &str| node.attribute(key).unwrap().parse::<f64>().unwrap();
            let (y, font, words) = (number("y"), number("font-size"), node.text().unwrap_or(""));
            assert!(font >= 13.0, "{name}: {words:?}");
            let (left, right) = sides(&node);
            assert!(left >= 0.0 && right <= size[2] && y <= size[3], "{name}: {words:?} from {left} to {right}, {y}");
            let area = (left, right, y - 0.75 * font, y, words);
            for other in &boxes {
                let apart = area.1 <= other.0 || other.1 <= area.0 || area.3 <= other.2 || other.3 <= area.2;
                assert!(apart, "{name}: {words:?} is on top of {:?}", other.4);
            }
            boxes.push(area);
        }
    }
    assert_eq!(panels, self::panels(), "the same data give the same text");
}
