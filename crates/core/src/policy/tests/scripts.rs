//! Scripts of abilities that an agent starts.

use super::*;

fn made(script: &str, abilities: &[&str]) -> Option<String> {
    let situation = free();
    made_by_script(script, abilities, &situation.place, &situation.reserved, &NoLinks)
        .map(|reserved| reserved.pattern.to_string())
}

#[test]
fn a_script_makes_no_call_that_another_ability_reserves() {
    for script in
        ["./deploy.sh evil", "cd src && ../deploy.sh", "sh -c './deploy.sh x'", "make && env ./deploy.sh now"]
    {
        assert_eq!(made(script, &["evil"]).as_deref(), Some("Bash(./deploy.sh *)"), "{script}");
        assert_eq!(made(script, &["deploy"]), None, "its own: {script}");
        assert_eq!(made(script, &["ship", "deploy"]), None, "of an ability that called it: {script}");
    }
    // What is in doubt is not its to say: most scripts are code.
    for script in ["cargo test", "\"$TOOL\" --check", "python3 - <<'EOF'\nprint(1)\nEOF", "eval \"$X\""] {
        assert_eq!(made(script, &["evil"]), None, "{script}");
    }
}

#[test]
fn a_name_that_another_definition_has_taken_makes_it_no_owner() {
    let mut situation = free();
    for reserved in &mut situation.reserved {
        reserved.standing = Standing::Replaced;
    }
    let made = made_by_script("./deploy.sh x", &["deploy"], &situation.place, &situation.reserved, &NoLinks);
    assert!(made.is_some());
}
