//! What `doctor` warns of is what docs/threat-model.md says, word for word.
#![expect(clippy::disallowed_methods, reason = "this reads the repository")]

use abide_clients::{Client, side_doors};
use std::path::Path;

#[test]
fn every_side_door_is_on_the_page() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/threat-model.md");
    let page = std::fs::read_to_string(path).unwrap();
    for client in Client::ALL {
        let section = page.split("\n### ").find(|section| section.starts_with(client.name())).unwrap();
        let lines: Vec<&str> = section.lines().filter_map(|line| line.strip_prefix("- ")).collect();
        let doors: Vec<&str> = side_doors::of(client).iter().map(|door| door.what).collect();
        assert_eq!(lines, doors, "{}", client.name());
    }
}
