//! What the tools of a server are called here: `server__tool`, whatever a server calls them.

use abide_core::capability::{CapabilityId, ToolName};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// How much of a name that had to be changed tells it apart from others.
const MARK: usize = 8;

/// Returns the name of each tool, or nothing for one that is listed twice.
///
/// The name of a tool depends on the server's id and on its own name, and on nothing else: not on the order of the list,
/// and not on what else is there, unless two names become the same.
pub(super) fn called(id: &CapabilityId, originals: &[&str]) -> Vec<Option<ToolName>> {
    let plain: Vec<String> = originals.iter().map(|original| plain(id, original)).collect();
    let mut taken = BTreeSet::new();
    originals
        .iter()
        .zip(&plain)
        .map(|(original, name)| {
            let alone = plain.iter().filter(|other| *other == name).count() == 1;
            let name = if alone { name.clone() } else { marked(id, original) };
            ToolName::parse(&name).filter(|name| taken.insert(name.clone()))
        })
        .collect()
}

/// Returns the name with every character that models refuse as `_`; one that is changed for its length has a mark.
fn plain(id: &CapabilityId, original: &str) -> String {
    let name = joined(id, original);
    if name.len() > ToolName::LONGEST { marked(id, original) } else { name }
}

fn joined(id: &CapabilityId, original: &str) -> String {
    let fits = |character: char| character.is_ascii_alphanumeric() || character == '_' || character == '-';
    let original: String = original.chars().map(|one| if fits(one) { one } else { '_' }).collect();
    format!("{id}__{original}")
}

fn marked(id: &CapabilityId, original: &str) -> String {
    let mut name = joined(id, original);
    name.truncate(ToolName::LONGEST - MARK - 1);
    name.push('_');
    for byte in Sha256::digest(original.as_bytes()).iter().take(MARK / 2) {
        // Writing to a string cannot fail.
        let _ = write!(name, "{byte:02x}");
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(originals: &[&str]) -> Vec<String> {
        let id = CapabilityId::parse("files").unwrap();
        let named = called(&id, originals);
        named.into_iter().map(|name| name.map_or("–".to_owned(), |name| name.to_string())).collect()
    }

    #[test]
    fn a_tool_has_the_name_of_its_server_in_front() {
        assert_eq!(told(&["read", "list-all", "a.b/c"]), ["files__read", "files__list-all", "files__a_b_c"]);
        assert_eq!(
            told(&["read", "read"]),
            ["files__read_1a3ff6ce", "–"].map(|name| name.replace("1a3ff6ce", &mark("read")))
        );
    }

    fn mark(original: &str) -> String {
        let id = CapabilityId::parse("files").unwrap();
        marked(&id, original).rsplit('_').next().unwrap().to_owned()
    }

    #[test]
    fn names_that_become_the_same_are_told_apart_in_any_order() {
        let one = told(&["a.b", "a/b", "c"]);
        assert_ne!(one[0], one[1]);
        assert!(one[0].starts_with("files__a_b_") && one[2] == "files__c", "{one:?}");
        let other = told(&["a/b", "c", "a.b"]);
        assert_eq!((&one[0], &one[1]), (&other[2], &other[0]));
    }

    #[test]
    fn a_long_name_is_cut_and_still_its_own() {
        let (long, longer) = ("x".repeat(100), "x".repeat(101));
        let found = told(&[&long, &longer, "ü"]);
        assert!(found[0].len() == 64 && found[1].len() == 64 && found[0] != found[1], "{found:?}");
        assert_eq!(found[2], "files___");
    }
}
