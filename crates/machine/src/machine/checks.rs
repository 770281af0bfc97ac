//! What a machine looks for beyond what it cannot do without.

/// Which checks are made. Bounds, alignment, barriers and masks are always checked: without them there is
/// nothing sensible to go on with. No check changes a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Values that depend on memory or registers that were never written (`E-UNINIT-*`).
    pub init: bool,
    /// Accesses that nothing orders (`E-RACE-*`), asynchronous copies among them.
    pub races: bool,
    /// Overflowing indices, shifts past the width and the like (`L-*`).
    pub arithmetic: bool,
    /// Advice on speed (`P-*`).
    pub performance: bool,
}

impl Checks {
    pub const ALL: Self = Self { init: true, races: true, arithmetic: true, performance: true };
    pub const NONE: Self = Self { init: false, races: false, arithmetic: false, performance: false };

    /// Whether any of them looks at accesses to memory.
    pub(crate) fn watch_memory(self) -> bool {
        self.init || self.races || self.performance
    }
}

/// A name that is none of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownCheck(pub String);

/// `all`, `none`, or names with commas between them.
impl std::str::FromStr for Checks {
    type Err = UnknownCheck;

    fn from_str(text: &str) -> Result<Self, UnknownCheck> {
        let names: Vec<&str> = text.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        let mut checks = Self::NONE;
        for name in &names {
            match *name {
                "init" => checks.init = true,
                "races" => checks.races = true,
                "arithmetic" => checks.arithmetic = true,
                "performance" => checks.performance = true,
                "all" if names.len() == 1 => checks = Self::ALL,
                "none" if names.len() == 1 => {}
                _ => return Err(UnknownCheck((*name).to_string())),
            }
        }
        Ok(checks)
    }
}

impl Default for Checks {
    /// Everything but the arithmetic lints, which may be about what a program means to do.
    fn default() -> Self {
        Self { arithmetic: false, ..Self::ALL }
    }
}
