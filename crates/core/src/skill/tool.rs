//! A skill as a tool that an agent calls: what it is called.

use crate::capability::ToolName;

/// What the names of such tools begin with.
pub const PREFIX: &str = "skills__";

/// Returns the name of the tool that runs a skill; a name that models could not call is none.
///
/// Models take letters, digits, `_` and `-`; everything else becomes `_`.
pub fn tool_name(skill: &str) -> Option<ToolName> {
    let fits = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    let plain: String =
        skill.chars().map(|character| if fits(character) { character } else { '_' }).collect();
    if plain.is_empty() {
        return None;
    }
    ToolName::parse(&format!("{PREFIX}{plain}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_has_the_name_of_its_skill_as_far_as_models_can_say_it() {
        let name = |skill: &str| tool_name(skill).map(|name| name.to_string());
        assert_eq!(name("release-notes").as_deref(), Some("skills__release-notes"));
        assert_eq!(name("a b\n</x>").as_deref(), Some("skills__a_b___x_"));
        assert_eq!(name(""), None);
        assert_eq!(name(&"x".repeat(57)), None, "no name is cut: two skills could share it");
        assert!(name(&"x".repeat(56)).is_some());
    }
}
