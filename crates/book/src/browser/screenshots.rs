//! Pictures of pages, for people to look at.

use std::path::Path;

use data_encoding::BASE64;

use super::pages::{PRINT, Pages};
use super::visit::{PHONE, Tab, Theme, WIDE, Window};
use crate::Failure;

/// Writes `PAGE-light.png`, `PAGE-dark.png`, `PAGE-phone.png`, `PAGE-dark-phone.png`, and of the print page what is on paper.
pub(crate) fn take(tab: &mut Tab, pages: &Pages, folder: &Path, only: Option<&str>) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let asked = |page: &&str| only.is_none_or(|only| page.contains(only));
    let views: [(&str, Theme, Window); 4] = [
        ("light", Theme::Light, WIDE),
        ("phone", Theme::Light, PHONE),
        ("dark", Theme::Dark, WIDE),
        ("dark-phone", Theme::Dark, PHONE),
    ];
    for (view, theme, window) in views {
        tab.set_theme(theme)?;
        for page in pages.names().filter(asked).filter(|page| *page != PRINT) {
            tab.open_in(page, window)?;
            write(tab, folder, page, view)?;
        }
    }
    if asked(&PRINT) {
        tab.set_theme(Theme::Dark)?;
        tab.open_in(PRINT, WIDE)?;
        tab.set_paper(true)?;
        write(tab, folder, PRINT, "paper")?;
        tab.set_paper(false)?;
    }
    Ok(())
}

fn write(tab: &mut Tab, folder: &Path, page: &str, view: &str) -> Result<(), Failure> {
    let picture = BASE64.decode(tab.picture()?.as_bytes()).map_err(|error| format!("no picture of {page}: {error}"))?;
    let name = page.trim_end_matches(".html").replace('/', "-");
    let path = folder.join(format!("{name}-{view}.png"));
    std::fs::write(&path, picture).map_err(|error| format!("cannot write {}: {error}", path.display()))
}
