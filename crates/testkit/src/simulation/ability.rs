//! Abilities that nobody would write, from a seed.

use super::Chance;
use std::fmt::Write as _;

/// The ability that steps call, in simulations that have a workspace.
pub(super) const CHILD: &str = "child";

/// Returns the text of a random ability; with `children`, some of its steps call `CHILD`.
///
/// Every step is valid, and some have several of: needs, conditions on others, items (also with names that meet),
/// rounds, each way to fail, time limits.
pub fn ability(chance: &mut Chance, children: bool) -> String {
    let most = if chance.percent(70) { 7 } else { 21 };
    let count = chance.position(most - 1) + 1;
    let mut text = "description: Simulated\n".to_owned();
    let mut settings = Vec::new();
    if chance.percent(60) {
        settings.push("parallel: true".to_owned());
        if chance.percent(60) {
            settings.push(format!("max_parallel: {}", chance.within(1..5)));
        }
    }
    if chance.percent(25) {
        settings.push(format!("timeout: {}s", chance.within(1..600)));
    }
    if chance.percent(15) {
        settings.push(format!("on_failure: {}", chance.one(&["stop", "continue", "retry", "ask"])));
    }
    if chance.percent(10) {
        settings.push("plan_approval: true".to_owned());
    }
    if !settings.is_empty() {
        let _ = writeln!(text, "settings: {{ {} }}", settings.join(", "));
    }
    text.push_str("steps:\n");
    for index in 0..count {
        let _ = writeln!(text, "  - {{ {} }}", step(chance, index, children).join(", "));
    }
    text
}

fn step(chance: &mut Chance, index: usize, children: bool) -> Vec<String> {
    let mut fields = vec![format!("id: s{index}")];
    let needs: Vec<String> =
        (0..index).filter(|_| chance.percent(20)).map(|other| format!("s{other}")).collect();
    if !needs.is_empty() {
        fields.push(format!("needs: [{}]", needs.join(", ")));
    }
    if index > 0 && chance.percent(15) {
        let other = chance.position(index);
        let status = chance.one(&["completed", "failed", "skipped"]);
        let operator = chance.one(&["==", "!="]);
        fields.push(format!("when: 'steps.s{other}.status {operator} \"{status}\"'"));
    }
    if chance.percent(30) {
        fields.push(format!("timeout: {}s", chance.within(1..90)));
    }
    if chance.percent(15) {
        fields.push("type: approval".to_owned());
        fields.push("prompt: May it?".to_owned());
        if chance.percent(30) {
            fields.push("options: [{ label: Now, value: now }, { label: Later, value: later }]".to_owned());
        }
        if chance.percent(30) {
            fields.push("approvers: [eve, mallory]".to_owned());
        }
        return fields;
    }
    let calls = children && chance.percent(15);
    fields.push(if calls { format!("workflow: {CHILD}") } else { "run: x".to_owned() });
    if !calls && chance.percent(12) {
        fields.push(format!("validation: {{ check: [{}] }}", chance.one(&["y", "y, z"])));
    }
    if chance.percent(60) {
        fields.push(format!("on_failure: {}", chance.one(&["stop", "continue", "retry", "retry", "ask"])));
        fields.push(format!("max_retries: {}", chance.within(0..4)));
        fields.push(format!("retry_delay: {}s", chance.within(0..20)));
    }
    if chance.percent(30) {
        fields.push(format!("idempotent: {}", chance.one(&["true", "false"])));
    }
    if chance.percent(15) {
        let items: Vec<&str> = (0..=chance.position(5)).map(|_| chance.one(ITEMS)).collect();
        fields.push(format!("for_each: [{}]", items.join(", ")));
        if chance.percent(60) {
            fields.push(format!("max_parallel: {}", chance.within(1..4)));
        }
    }
    if chance.percent(12) {
        let until =
            chance.one(&["output == \"ready\"", "attempts > 2", "exit_code == 0"][..3 - usize::from(calls)]);
        let most = chance.within(1..5);
        fields.push(format!(
            "repeat: {{ until: 'steps.s{index}.{until}', max: {most}, delay: {}s }}",
            chance.within(0..9)
        ));
    }
    fields
}

/// Some of them would get the same name, and some the name that another one gets to avoid that.
const ITEMS: &[&str] = &["eu", "us", "eu", "eu.2", "eu.3", "2", "{ a: 1 }", "a b", "true"];
