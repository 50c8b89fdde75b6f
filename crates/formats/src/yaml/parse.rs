//! Events → tree, within bounds.

use super::{Content, Node, Scalar, Style, mapping};
use crate::text::LARGEST_FILE;
use abide_core::diagnostic::{Code, Diagnostic, Problems, excerpt};
use abide_core::source::Span;
use granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle, ScanError};
use std::collections::HashMap;

/// How deep collections may be nested.
const DEEPEST: usize = 64;
/// How many nodes a file may have, aliases expanded.
const MOST_NODES: usize = 600_000;
/// How many bytes of text the aliases of a file may add to it.
const MOST_ALIASED: usize = LARGEST_FILE;

/// A parsed file: its one document, and what is wrong with it as YAML.
#[derive(Debug)]
pub struct Document<'a> {
    /// The document, unless the file could not be parsed.
    pub root: Option<Node<'a>>,
    /// Everything that is wrong with the text as YAML.
    pub problems: Vec<Diagnostic>,
}

/// Parses a text that holds one YAML document.
pub fn parse(source: &str) -> Document<'_> {
    let mut builder = Builder {
        source,
        stack: Vec::new(),
        anchors: HashMap::new(),
        nodes: 0,
        aliased: 0,
        problems: Problems::default(),
    };
    let root = match builder.build() {
        Ok(root) => root,
        Err(problem) => {
            // Quotes around the template would be the wrong advice when what follows it broke the file.
            builder.problems.retract_while(|earlier| {
                earlier.code == Code::UnquotedTemplate
                    && earlier.at.map(|at| at.end) == problem.at.map(|at| at.start)
            });
            builder.problems.push(*problem);
            None
        }
    };
    Document { root, problems: builder.problems.into() }
}

struct Builder<'a> {
    source: &'a str,
    stack: Vec<Open<'a>>,
    anchors: HashMap<usize, Anchor<'a>>,
    nodes: usize,
    /// How many bytes of text aliases have added.
    aliased: usize,
    problems: Problems,
}

/// A value that aliases may repeat, and what that costs.
struct Anchor<'a> {
    node: Node<'a>,
    size: Size,
}

/// What a value adds to a file.
#[derive(Clone, Copy, Default)]
struct Size {
    /// Values, itself included.
    nodes: usize,
    /// Bytes of text.
    text: usize,
    /// Collections inside each other, itself included.
    depth: usize,
}

impl Size {
    fn add(&mut self, inside: Self) {
        self.nodes += inside.nodes;
        self.text += inside.text;
        self.depth = self.depth.max(inside.depth + 1);
    }
}

/// A collection that has started and not ended.
struct Open<'a> {
    start: usize,
    anchor: usize,
    size: Size,
    items: Items<'a>,
}

enum Items<'a> {
    Sequence(Vec<Node<'a>>),
    Mapping { entries: Vec<(Node<'a>, Node<'a>)>, key: Option<Node<'a>> },
}

type Stop = Box<Diagnostic>;

impl<'a> Builder<'a> {
    fn build(&mut self) -> Result<Option<Node<'a>>, Stop> {
        let mut options = Options::default();
        options.flow_nesting_limit = DEEPEST;
        options.block_nesting_limit = DEEPEST;
        options.set_emit_comments(false);
        let mut parser = Parser::new_from_str_with_options(self.source, options);
        let mut root = None;
        while let Some(next) = parser.next_event() {
            // Taken apart where it lies: an event is large, and moving each would take longer than building the tree.
            let place = match &next {
                Ok((_, span)) => span.byte_range().unwrap_or(0..0),
                Err(error) => return Err(Box::new(self.syntax_error(error))),
            };
            let place = Span::new(place.start, place.end);
            match next {
                Ok((Event::Scalar(text, style, anchor, tag), _)) => {
                    let style = match style {
                        ScalarStyle::Plain => Style::Plain,
                        ScalarStyle::Literal => Style::Literal,
                        ScalarStyle::Folded => Style::Folded,
                        ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => Style::Quoted,
                    };
                    // The parser writes `~` for a value that is not there.
                    let text =
                        if style == Style::Plain && place.start == place.end { "".into() } else { text };
                    let style = match tag {
                        Some(tag) => self.check_tag(&tag, style, place),
                        None => style,
                    };
                    self.count(1, place)?;
                    let size = Size { nodes: 1, text: text.len(), depth: 0 };
                    let node = Node { span: place, content: Content::Scalar(Scalar { text, style }) };
                    self.remember(anchor, &node, size)?;
                    self.place(node, size, &mut root);
                }
                Ok((Event::SequenceStart(_, anchor, tag), _)) => {
                    if let Some(tag) = tag {
                        self.check_tag(&tag, Style::Plain, place);
                    }
                    self.open(place, anchor, Items::Sequence(Vec::new()))?;
                }
                Ok((Event::MappingStart(_, anchor, tag), _)) => {
                    if let Some(tag) = tag {
                        self.check_tag(&tag, Style::Plain, place);
                    }
                    self.open(place, anchor, Items::Mapping { entries: Vec::new(), key: None })?;
                }
                Ok((Event::SequenceEnd | Event::MappingEnd, _)) => self.close(place, &mut root)?,
                Ok((Event::Alias(anchor), _)) => {
                    let (node, size) = self.alias(anchor, place)?;
                    self.place(node, size, &mut root);
                }
                Ok((Event::DocumentStart(..), _)) if root.is_some() => {
                    let problem =
                        Diagnostic::new(Code::Documents, place, "the file holds a second YAML document")
                            .help("one file defines one thing: move what follows `---` to a file of its own");
                    return Err(Box::new(problem));
                }
                _ => {}
            }
        }
        Ok(root)
    }

    fn count(&mut self, more: usize, at: Span) -> Result<(), Stop> {
        self.nodes += more;
        if self.nodes > MOST_NODES {
            let message = format!("the file expands to more than {MOST_NODES} values");
            return Err(Box::new(
                Diagnostic::new(Code::TooComplex, at, message)
                    .help("write fewer aliases (`*name`), or split the file"),
            ));
        }
        Ok(())
    }

    /// Counts what is about to be copied, so that a bomb costs nothing.
    fn count_copy(&mut self, size: Size, at: Span) -> Result<(), Stop> {
        self.count(size.nodes, at)?;
        self.aliased += size.text;
        if self.aliased > MOST_ALIASED {
            let message = format!("the aliases of the file add more than {MOST_ALIASED} bytes to it");
            return Err(Box::new(
                Diagnostic::new(Code::TooComplex, at, message).help("write fewer aliases (`*name`)"),
            ));
        }
        Ok(())
    }

    fn open(&mut self, at: Span, anchor: usize, items: Items<'a>) -> Result<(), Stop> {
        // The parser bounds flow and block nesting apart; this bounds them together.
        if self.stack.len() >= DEEPEST {
            return Err(Box::new(too_deep(at)));
        }
        self.count(1, at)?;
        let size = Size { nodes: 1, text: 0, depth: 1 };
        self.stack.push(Open { start: at.start as usize, anchor, size, items });
        Ok(())
    }

    fn close(&mut self, at: Span, root: &mut Option<Node<'a>>) -> Result<(), Stop> {
        let Some(open) = self.stack.pop() else { return Ok(()) };
        let node = match open.items {
            Items::Sequence(items) => {
                // A block list ends where its last item ends; a flow list at its bracket.
                let end = if at.start == at.end {
                    items.last().map_or(at.end, |item| item.span.end)
                } else {
                    at.end
                };
                Node { span: Span::new(open.start, end as usize), content: Content::Sequence(items) }
            }
            Items::Mapping { entries, .. } => self.mapping(open.start, at, entries),
        };
        self.remember(open.anchor, &node, open.size)?;
        self.place(node, open.size, root);
        Ok(())
    }

    fn mapping(&mut self, start: usize, at: Span, mut entries: Vec<(Node<'a>, Node<'a>)>) -> Node<'a> {
        let end = if at.start == at.end {
            entries.last().map_or(at.end, |(key, value)| value.span.end.max(key.span.end))
        } else {
            at.end
        };
        let span = Span::new(start, end as usize);
        let source: &'a str = self.source;
        if let Some(written) = source.get(span.range())
            && written.starts_with("{{")
            && written.ends_with("}}")
        {
            // What YAML made of its inside is beside the point.
            self.problems.retract_while(|inside| {
                inside.at.is_some_and(|at| span.start <= at.start && at.end <= span.end)
            });
            self.problems.push(
                Diagnostic::new(Code::UnquotedTemplate, span, "this template stands without quotes")
                    .label("YAML reads `{{` as a mapping inside a mapping")
                    .help("abide understands it; write it in quotes, so that every other tool does too")
                    .fix(span, quoted(written)),
            );
            let scalar = Scalar { text: written.into(), style: Style::Template };
            return Node { span, content: Content::Scalar(scalar) };
        }
        mapping::settle(&mut entries, &mut self.problems);
        Node { span, content: Content::Mapping(entries) }
    }

    fn remember(&mut self, anchor: usize, node: &Node<'a>, size: Size) -> Result<(), Stop> {
        if anchor != 0 {
            self.count_copy(size, node.span)?;
            self.anchors.insert(anchor, Anchor { node: node.clone(), size });
        }
        Ok(())
    }

    fn alias(&mut self, anchor: usize, at: Span) -> Result<(Node<'a>, Size), Stop> {
        let Some(Anchor { size, .. }) = self.anchors.get(&anchor) else {
            // An alias inside its own anchor: the value would contain itself.
            return Err(Box::new(
                Diagnostic::new(Code::TooComplex, at, "this alias stands inside the value that it names")
                    .help("a value cannot contain itself"),
            ));
        };
        let size = *size;
        self.count_copy(size, at)?;
        if self.stack.len() + size.depth > DEEPEST {
            return Err(Box::new(too_deep(at)));
        }
        Ok((self.anchors[&anchor].node.clone(), size))
    }

    fn check_tag(&mut self, tag: &granit_parser::Tag, style: Style, at: Span) -> Style {
        match tag.core_suffix() {
            Some("str") => Style::Quoted,
            Some("int" | "float" | "bool" | "null" | "seq" | "map") => style,
            _ => {
                let written = tag.original();
                self.problems.push(
                    Diagnostic::new(
                        Code::Tag,
                        at,
                        format!("the tag `{}` is not allowed here", excerpt(&written)),
                    )
                    .help("remove the tag: definitions are plain data"),
                );
                style
            }
        }
    }

    /// Puts a finished node where it belongs.
    fn place(&mut self, node: Node<'a>, size: Size, root: &mut Option<Node<'a>>) {
        let Some(open) = self.stack.last_mut() else {
            *root = Some(node);
            return;
        };
        open.size.add(size);
        match &mut open.items {
            Items::Sequence(items) => items.push(node),
            Items::Mapping { entries, key } => match key.take() {
                Some(key) => entries.push((key, node)),
                None => *key = Some(node),
            },
        }
    }

    fn syntax_error(&self, error: &ScanError) -> Diagnostic {
        let offset = error.marker().byte_offset().unwrap_or(0).min(self.source.len());
        // An error at the end of a line is about that line, not about the next one.
        let at = Span::at(offset);
        if matches!(error.kind(), ErrorKind::RecursionLimitExceeded) {
            return too_deep(at);
        }
        let problem = Diagnostic::new(Code::BadYaml, at, format!("this is not valid YAML: {}", error.info()));
        let line_start = self.source[..offset].rfind('\n').map_or(0, |found| found + 1);
        let line_end = self.source[offset..].find('\n').map_or(self.source.len(), |found| offset + found);
        let line = &self.source[line_start..line_end];
        if line.contains(": {{") || line.trim_start().starts_with("- {{") {
            problem.help("a value that starts with `{{` must be in quotes when more text follows it")
        } else if line.contains('\t') && line.trim_start_matches(' ').starts_with('\t') {
            problem.help("indent with spaces: YAML does not take tabs")
        } else if line.matches(": ").count() > 1 {
            problem.help("a value that contains `: ` must be in quotes")
        } else {
            problem.help("look at the indentation and the quotes of this line and the one before it")
        }
    }
}

fn too_deep(at: Span) -> Diagnostic {
    Diagnostic::new(Code::TooComplex, at, format!("values are nested more than {DEEPEST} levels deep"))
        .help("no definition needs that; flatten it")
}

fn quoted(text: &str) -> String {
    if text.contains('"') && !text.contains('\'') {
        format!("'{text}'")
    } else {
        format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(source: &str) -> Vec<String> {
        parse(source)
            .problems
            .into_iter()
            .map(|problem| format!("{} {}", problem.code, problem.message))
            .collect()
    }

    #[test]
    fn an_unquoted_template_is_text() {
        let document =
            parse("a: {{inputs.x}}\nb: [1, {{ steps.y.output }}]\nc: {{ x | default(\"p, q: r\") }}\n");
        let root = document.root.unwrap();
        assert_eq!(root.get("a").unwrap().text(), Some("{{inputs.x}}"));
        let Content::Sequence(items) = &root.get("b").unwrap().content else { panic!() };
        assert_eq!(items[1].text(), Some("{{ steps.y.output }}"));
        assert_eq!(root.get("c").unwrap().text(), Some("{{ x | default(\"p, q: r\") }}"));
        assert_eq!(document.problems.len(), 3);
        assert_eq!(document.problems[0].fix.as_ref().unwrap().text, "\"{{inputs.x}}\"");
    }

    #[test]
    fn all_duplicate_keys_are_found() {
        assert_eq!(
            messages("a: 1\nb: {x: 1, x: 2}\na: 2\n"),
            ["E0106 `x` is given twice", "E0106 `a` is given twice"]
        );
    }

    #[test]
    fn merges_add_what_is_not_there() {
        let document = parse("base: &b {x: 1, y: 2}\nuse:\n  <<: *b\n  y: 3\n");
        let root = document.root.unwrap();
        assert_eq!(root.get("use").unwrap().get("x").unwrap().text(), Some("1"));
        assert_eq!(root.get("use").unwrap().get("y").unwrap().text(), Some("3"));
        assert!(document.problems.is_empty());
    }

    #[test]
    fn an_alias_bomb_is_refused_before_it_grows() {
        let mut source = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
        for level in 1..12 {
            let items = vec![format!("*a{}", level - 1); 9].join(", ");
            source.push_str(
                &["a", &level.to_string(), ": &a", &level.to_string(), " [", &items, "]\n"].concat(),
            );
        }
        assert_eq!(messages(&source), ["E0105 the file expands to more than 600000 values"]);
    }

    #[test]
    fn nesting_is_bounded_in_every_style() {
        let flow = format!("a: {}{}", "[".repeat(100), "]".repeat(100));
        let mut block = String::new();
        for level in 0..100 {
            block.push_str(&" ".repeat(level));
            block.push_str("a:\n");
        }
        for source in [flow, block] {
            assert_eq!(messages(&source), ["E0105 values are nested more than 64 levels deep"]);
        }
        assert_eq!(messages("a: &a [*a]\n"), ["E0105 this alias stands inside the value that it names"]);
    }

    #[test]
    fn tags_and_second_documents_are_refused() {
        assert_eq!(
            messages("a: !!python/object x\n"),
            ["E0108 the tag `!!python/object` is not allowed here"]
        );
        assert_eq!(messages("a: 1\n---\nb: 2\n"), ["E0107 the file holds a second YAML document"]);
        assert_eq!(parse("a: !!str 5\n").root.unwrap().get("a").unwrap().kind(), "a string");
    }

    #[test]
    fn a_syntax_error_helps_with_what_stands_there() {
        for (source, help) in [
            ("a: {{x}}-b\n", "a value that starts with `{{` must be in quotes when more text follows it"),
            ("a: b: c\n", "a value that contains `: ` must be in quotes"),
            ("a:\n\tb: 1\n", "indent with spaces: YAML does not take tabs"),
        ] {
            let problems = parse(source).problems;
            assert_eq!(problems[0].code, Code::BadYaml, "{source}");
            assert_eq!(problems[0].help.as_deref(), Some(help), "{source}");
        }
    }
}
