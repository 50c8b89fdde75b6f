//! Readers of templates and expressions.

use super::Reader;
use crate::yaml::Node;
use abide_core::diagnostic::{Code, Diagnostic};
use abide_core::source::Spanned;
use abide_core::value::{Expression, Template};

/// How many placeholders a file may have: more of them would fill the memory.
const MOST_PLACEHOLDERS: usize = 200_000;

impl Reader<'_> {
    /// Reads text with placeholders.
    pub(crate) fn template(&mut self, node: &Node<'_>) -> Option<Spanned<Template>> {
        let Some(text) = node.text().filter(|_| !node.is_null()) else {
            self.wrong_type(node, "text");
            return None;
        };
        let positions = node.positions(self.source);
        match Template::parse(text, &|offset| positions.of(offset)) {
            Ok(template) => {
                self.placeholders += template.placeholders().len();
                if self.placeholders > MOST_PLACEHOLDERS {
                    self.report(
                        Diagnostic::new(
                            Code::TooComplex,
                            node.span,
                            format!("the file has more than {MOST_PLACEHOLDERS} placeholders"),
                        )
                        .help("split the ability with `workflow` steps"),
                    );
                    return None;
                }
                Some(Spanned::new(template, node.span))
            }
            Err(problems) => {
                for problem in problems {
                    self.report(problem.into());
                }
                None
            }
        }
    }

    /// Reads text with placeholders that says something.
    pub(crate) fn full_template(&mut self, node: &Node<'_>) -> Option<Spanned<Template>> {
        if node.text().is_some_and(|text| text.trim().is_empty()) && !node.is_null() {
            self.empty(node, "text");
            return None;
        }
        self.template(node)
    }

    /// Reads a condition.
    pub(crate) fn expression(&mut self, node: &Node<'_>) -> Option<Spanned<Expression>> {
        let Some(text) = node.text().filter(|_| !node.is_null()) else {
            self.wrong_type(node, "a condition such as `inputs.environment == \"production\"`");
            return None;
        };
        // `when: "{{ … }}"` is what people write who know other tools: it means the same.
        let trimmed = text.trim();
        let (text, skipped) = match trimmed.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}")) {
            Some(inner) if !inner.contains("{{") => (inner, text.find("{{").unwrap_or(0) + 2),
            _ => (text, 0),
        };
        let positions = node.positions(self.source);
        match Expression::parse_mapped(text, &|offset| positions.of(skipped + offset)) {
            Ok(expression) => Some(Spanned::new(expression, node.span)),
            Err(problem) => {
                self.report(problem.into());
                None
            }
        }
    }
}
