//! The rules that every reading of a file keeps, whatever the file says.
//!
//! The fuzz targets and the replay of their corpus call the same functions: each reads the bytes as abide
//! would and panics when a rule is broken.
//!
//! - Every place that a problem, a related place or a fix points at lies in the text, on characters.
//! - Problems come in the order of the file, are bounded in number, and each says something on one line.
//! - What a skill says stays in the places that it is told in: its pieces are its body, a name or a description opens no tag.
//! - An ability without errors prints as text that reads back as the same ability, without errors.

use abide_core::definition::{Ability, AgentTools, check};
use abide_core::diagnostic::{Diagnostic, Problems};
use abide_core::skill::listing::{BUDGET, Offer, describe};
use abide_core::skill::text::{Piece, pieces};
use abide_core::skill::{MOST_TURNS, standard, view};
use abide_core::source::Span;
use abide_core::value::{Expression, Template};
use abide_formats::yaml::{Content, Node};
use abide_formats::{ability, agent, config, skill, text, yaml};

/// The longest message that still is one.
const LONGEST_MESSAGE: usize = 2_000;

/// Reads bytes as `ability.yaml`.
pub fn ability(bytes: &[u8]) {
    let Some(source) = decoded(bytes) else { return };
    document(source);
    let reading = ability::read(source, "fuzz");
    problems(source, &reading.problems);
    let _ = ability::looks_like_one(source);
    if let Some(found) = &reading.ability {
        for dependency in check::dependencies(found).iter().flatten() {
            place(source, dependency.span);
        }
        if reading.is_usable() {
            reads_back(found);
        }
    }
}

/// Reads bytes as `config.yaml`.
pub fn config(bytes: &[u8]) {
    let Some(source) = decoded(bytes) else { return };
    let reading = config::read(source);
    problems(source, &reading.problems);
    let config = reading.config;
    for (name, settings) in &config.agents {
        place(source, name.span);
        settings.abilities.iter().flatten().for_each(|ability| place(source, ability.span));
    }
    config.secrets.iter().for_each(|(name, _)| place(source, name.span));
    let again = config.clone().overlaid(config.clone());
    assert_eq!(again.secrets.len(), config.secrets.len(), "a configuration laid over itself adds nothing");
}

/// Reads bytes as an agent profile.
pub fn agent(bytes: &[u8]) {
    let Some(source) = decoded(bytes) else { return };
    let reading = agent::read(source, "fuzz");
    problems(source, &reading.problems);
    let _ = agent::skill_name(source);
    if let Some(found) = reading.agent {
        place(source, found.span());
        match &found.tools {
            Some(AgentTools::Only(names)) => names.iter().for_each(|tool| place(source, tool.span)),
            Some(AgentTools::Switched(tools)) => tools.iter().for_each(|tool| place(source, tool.span)),
            None => {}
        }
        found.capabilities.iter().for_each(|capability| place(source, capability.id.span));
        found.permission.iter().for_each(|rule| place(source, rule.span));
        found.abilities.iter().flatten().for_each(|ability| place(source, ability.span));
    }
}

/// Reads bytes as `SKILL.md`, and does with it what is done before anybody has looked at it.
pub fn skill(bytes: &[u8]) {
    let reading = skill::read(bytes);
    let source = String::from_utf8_lossy(bytes);
    problems_in_any_order(&source, &reading.problems);
    let Some(found) = reading.skill else {
        assert!(!reading.problems.is_empty(), "a file is no skill for a reason");
        return;
    };
    assert!(source.ends_with(&found.body), "the body is the end of the file");
    let pieces = pieces(&found.body).into_iter().map(|piece| match piece {
        Piece::Text(text) => text.to_owned(),
        Piece::File { path } => format!("@{path}"),
        Piece::Command { command } => format!("!`{command}`"),
    });
    assert_eq!(pieces.collect::<String>(), found.body, "a body is made of its pieces");
    problems_in_any_order(&source, &standard::check(&found, "fuzz"));
    let requires = found.requires();
    assert!(
        requires.needs.iter().all(|need| !need.name.is_empty()),
        "what is required has a name: {requires:?}"
    );
    assert!((1..=MOST_TURNS).contains(&found.max_turns()));
    let description = found.description.as_deref().unwrap_or_default();
    let told = describe(&[Offer { name: &found.name, description }], BUDGET);
    assert!(told.len() <= BUDGET && told.matches("</available_skills>").count() == 1, "{told}");
    let loaded = view::loaded(&found, "/", &[]);
    assert_eq!(
        loaded.lines().next().map(|line| line.matches('<').count()),
        Some(1),
        "a name breaks out: {loaded}"
    );
}

/// Reads bytes as a template.
pub fn template(bytes: &[u8]) {
    let Some(source) = decoded(bytes) else { return };
    match Template::parse(source, &|offset| offset) {
        Ok(template) => {
            assert_eq!(template.to_string(), source);
            template.references().for_each(|path| place(source, path.span()));
            template.placeholders().iter().for_each(|placeholder| place(source, placeholder.span));
        }
        Err(found) => {
            assert!(!found.is_empty(), "a template is refused for a reason");
            // The readers put the problems of a file in order; those of a template come as they are found.
            problems_in_any_order(source, &found.into_iter().map(Diagnostic::from).collect::<Vec<_>>());
        }
    }
}

/// Reads bytes as an expression.
pub fn expression(bytes: &[u8]) {
    let Some(source) = decoded(bytes) else { return };
    match Expression::parse(source, 0) {
        Ok(expression) => {
            assert_eq!(expression.text(), source);
            expression.references().for_each(|path| place(source, path.span()));
        }
        Err(problem) => problems(source, &[problem.into()]),
    }
}

fn decoded(bytes: &[u8]) -> Option<&str> {
    match text::decode(bytes) {
        Ok(source) => Some(source),
        Err(problem) => {
            let text = String::from_utf8_lossy(bytes);
            assert!(problem.at.is_none_or(|at| at.end as usize <= text.len()), "{problem:?}");
            None
        }
    }
}

/// Every node stands in the text, and every byte of a scalar has its place in the node.
fn document(source: &str) {
    let document = yaml::parse(source);
    problems_in_any_order(source, &document.problems);
    if let Some(root) = &document.root {
        node(source, root);
    }
}

fn node(source: &str, node: &Node<'_>) {
    place(source, node.span);
    match &node.content {
        Content::Scalar(scalar) => {
            let positions = node.positions(source);
            let step = (scalar.text.len() / 64).max(1);
            for offset in (0..=scalar.text.len()).step_by(step) {
                let at = positions.of(offset);
                let inside = node.span.start as usize <= at && at <= node.span.end as usize;
                assert!(inside && source.is_char_boundary(at), "byte {offset} of {node:?} is not at {at}");
            }
        }
        Content::Sequence(items) => items.iter().for_each(|item| self::node(source, item)),
        Content::Mapping(entries) => {
            for (key, value) in entries {
                assert!(key.text().is_some(), "a key has a name: {key:?}");
                self::node(source, key);
                self::node(source, value);
            }
        }
    }
}

fn problems(source: &str, found: &[Diagnostic]) {
    problems_in_any_order(source, found);
    let sorted = found.is_sorted_by_key(|problem| problem.at.map_or(0, |at| at.start));
    assert!(sorted, "problems come in the order of the file: {found:#?}");
}

fn problems_in_any_order(source: &str, found: &[Diagnostic]) {
    assert!(found.len() <= 4 * Problems::MOST, "{} problems", found.len());
    for problem in found {
        let places = problem.at.iter().chain(problem.related.iter().map(|related| &related.at));
        places.chain(problem.fix.iter().map(|fix| &fix.at)).for_each(|at| place(source, *at));
        for text in
            [Some(&problem.message), problem.label.as_ref(), problem.help.as_ref()].into_iter().flatten()
        {
            let fits = !text.is_empty() && !text.contains('\n') && text.len() <= LONGEST_MESSAGE;
            assert!(fits, "a message is one line: {problem:#?}");
        }
    }
}

fn place(source: &str, at: Span) {
    assert!(source.get(at.range()).is_some(), "{at:?} is not a place in a text of {} bytes", source.len());
}

fn reads_back(ability: &Ability) {
    let printed = ability::print(ability);
    let again = ability::read(&printed, "fuzz");
    let errors: Vec<&Diagnostic> = again.problems.iter().filter(|problem| problem.is_error()).collect();
    assert!(errors.is_empty(), "what was printed has errors: {errors:#?}\n{printed}");
    assert_eq!(again.ability.as_ref(), Some(ability), "what was printed reads differently:\n{printed}");
}
