//! Projects with as many abilities as wanted, of about 1.3 KB each, all different and all valid.

use anyhow::Context;
use std::path::{Path, PathBuf};

/// What the abilities look like; the words in capitals are filled in.
const SHAPES: [(&str, &str); 4] = [
    ("release", include_str!("../shapes/release.yaml")),
    ("review", include_str!("../shapes/review.yaml")),
    ("migrate", include_str!("../shapes/migrate.yaml")),
    ("nightly", include_str!("../shapes/nightly.yaml")),
];
const SERVICES: [&str; 7] = ["billing", "search", "accounts", "gateway", "mailer", "reports", "catalog"];
const REGIONS: [&str; 5] = ["eu-north", "us-west", "ap-south", "sa-east", "af-south"];
const AGENTS: [&str; 3] = ["reviewer", "builder", "architect"];

/// Writes a project with `count` abilities and returns the folder that holds them.
pub(crate) fn write(project: &Path, count: usize) -> anyhow::Result<PathBuf> {
    let abide = project.join(".abide");
    for agent in AGENTS {
        let profile =
            format!("---\nname: {agent}\ndescription: The {agent} of the team\n---\nBe a good {agent}.\n");
        put(&abide.join("agents").join(format!("{agent}.md")), &profile)?;
    }
    let skill = "---\nname: security-review\ndescription: Finds what an attacker would find\n---\nLook.\n";
    put(&abide.join("skills/security-review/SKILL.md"), skill)?;
    let folder = abide.join("abilities");
    for number in 0..count {
        let path = folder.join(name(number)).join("ability.yaml");
        put(&path, &text(number))?;
    }
    Ok(folder)
}

fn service(number: usize) -> &'static str {
    SERVICES[number % SERVICES.len()]
}

fn name(number: usize) -> String {
    format!("{}/{}-{number}", service(number), SHAPES[number % SHAPES.len()].0)
}

fn text(number: usize) -> String {
    // A nightly calls the review two numbers before it: reviews call nobody, so there is no circle.
    let next = name(number.saturating_sub(2));
    SHAPES[number % SHAPES.len()]
        .1
        .replace("SERVICE", service(number))
        .replace("REGION", REGIONS[number % REGIONS.len()])
        .replace("NUMBER", &number.to_string())
        .replace("NEXT", &next)
}

fn put(path: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    std::fs::write(path, text).with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abilities_have_about_the_promised_size_and_differ() {
        let texts: Vec<String> = (0..40).map(text).collect();
        let average = texts.iter().map(String::len).sum::<usize>() / texts.len();
        assert!((1_200..1_400).contains(&average), "{average} bytes");
        let mut distinct = texts.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), texts.len());
    }
}
