//! How a package is installed on this machine.

use super::programs::path_of;

/// A package manager by its program: how it installs.
const MANAGERS: [(&str, &str); 6] = [
    ("apt-get", "sudo apt-get install"),
    ("dnf", "sudo dnf install"),
    ("pacman", "sudo pacman -S"),
    ("zypper", "sudo zypper install"),
    ("apk", "sudo apk add"),
    ("brew", "brew install"),
];

/// A package: what most call it, and who calls it something else.
#[derive(Debug)]
pub(super) struct Package(pub(super) &'static str, pub(super) &'static [(&'static str, &'static str)]);

/// The command that installs packages here.
pub(super) fn install(packages: &[Package]) -> String {
    installed_by(MANAGERS.iter().find(|(program, _)| path_of(program).is_some()), packages)
}

fn installed_by(manager: Option<&(&str, &str)>, packages: &[Package]) -> String {
    let of = |program: &str, package: &Package| {
        package.1.iter().find(|(manager, _)| *manager == program).map_or(package.0, |(_, name)| name).to_owned()
    };
    match manager {
        Some((program, command)) => {
            let names: Vec<String> = packages.iter().map(|package| of(program, package)).collect();
            format!("{command} {}", names.join(" "))
        }
        None => {
            let names: Vec<&str> = packages.iter().map(|package| package.0).collect();
            format!("install {} with your system's package manager", names.join(" and "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_has_the_name_that_its_manager_has_for_it() {
        let packages = [Package("python3", &[("pacman", "python")]), Package("git", &[])];
        assert_eq!(installed_by(MANAGERS.first(), &packages), "sudo apt-get install python3 git");
        assert_eq!(installed_by(MANAGERS.get(2), &packages), "sudo pacman -S python git");
        assert_eq!(installed_by(None, &packages), "install python3 and git with your system's package manager");
    }
}
