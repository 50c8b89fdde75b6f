//! What an agent is told when it loads a skill, or cannot.

use super::Skill;
use super::listing::escape;

/// How many names an answer lists.
const MOST_NAMES: usize = 200;

/// Returns the text of a loaded skill: the instructions, the folder that they are about, and some of its files.
pub fn loaded(skill: &Skill, folder: &str, files: &[String]) -> String {
    let mut name = String::new();
    escape(&mut name, &skill.name, 256);
    let quoted = name.replace('"', "&quot;");
    let mut lines = vec![
        format!("<skill_content name=\"{quoted}\">"),
        format!("# Skill: {name}"),
        String::new(),
        skill.body.trim().to_owned(),
        String::new(),
        format!("Base directory for this skill: {folder}"),
        "Relative paths in this skill (e.g., scripts/, reference/) are relative to this base directory."
            .to_owned(),
        "Note: file list is sampled.".to_owned(),
        String::new(),
        "<skill_files>".to_owned(),
    ];
    for file in files {
        let mut line = String::from("<file>");
        escape(&mut line, file, 4_096);
        line.push_str("</file>");
        lines.push(line);
    }
    lines.push("</skill_files>".to_owned());
    lines.push("</skill_content>".to_owned());
    lines.join("\n")
}

/// Says that there is no skill of a name, and what there is: the names that have it as a part, else all.
pub fn unknown(name: &str, names: &[&str], nearest: Option<&str>) -> String {
    let similar: Vec<&str> =
        names.iter().copied().filter(|known| !name.is_empty() && known.contains(name)).collect();
    let listed = if similar.is_empty() { names } else { &similar };
    let mut available = String::new();
    for (index, known) in listed.iter().take(MOST_NAMES).enumerate() {
        if index > 0 {
            available.push_str(", ");
        }
        escape(&mut available, known, 256);
    }
    if listed.is_empty() {
        available.push_str("none");
    }
    let more = match listed.len().saturating_sub(MOST_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let meant = nearest.map(|nearest| format!(" Did you mean \"{nearest}\"?")).unwrap_or_default();
    let mut asked = String::new();
    escape(&mut asked, name, 256);
    format!("Skill \"{asked}\" not found.{meant} Available skills: {available}{more}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loaded_skill_names_its_folder_and_files() {
        let skill =
            Skill { name: "x".into(), description: None, fields: Vec::new(), body: "\n\nDo it.\n".into() };
        assert_eq!(
            loaded(&skill, "/a/x", &["/a/x/run.sh".into()]),
            "<skill_content name=\"x\">\n# Skill: x\n\nDo it.\n\nBase directory for this skill: /a/x\n\
             Relative paths in this skill (e.g., scripts/, reference/) are relative to this base directory.\n\
             Note: file list is sampled.\n\n<skill_files>\n<file>/a/x/run.sh</file>\n</skill_files>\n</skill_content>"
        );
    }

    #[test]
    fn what_is_not_there_names_what_is() {
        assert_eq!(unknown("x", &[], None), "Skill \"x\" not found. Available skills: none");
        assert_eq!(unknown("x", &["a", "b"], None), "Skill \"x\" not found. Available skills: a, b");
        assert_eq!(
            unknown("git", &["a", "git-log"], None),
            "Skill \"git\" not found. Available skills: git-log"
        );
    }
}
