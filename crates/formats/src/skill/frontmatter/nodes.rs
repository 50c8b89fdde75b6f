//! Values inside values: lists and mappings, in brackets and by indentation, and merges.

use super::data::{Data, Entries};
use super::properties::Tag;
use super::resolve;
use super::scan::{DEEPEST, Failure, LONGEST_KEY, MOST_MERGED, Scanner, is_blank, is_space};
use std::cmp::Ordering;
use std::rc::Rc;

/// Where a value stands, which decides what it may be.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Context {
    /// Inside brackets.
    FlowIn,
    /// Where a key may stand.
    FlowOut,
    /// An item of a list.
    BlockIn,
    /// The value of a key, or the document.
    BlockOut,
}

/// What was read.
pub(super) struct Node<'a> {
    /// Whether anything was there.
    pub(super) found: bool,
    pub(super) data: Data<'a>,
    /// Whether it is a plain `<<`, which asks for a merge when it is a key.
    merges: bool,
}

/// What came of trying to read a mapping by indentation.
enum Tried<'a> {
    Mapping(Data<'a>),
    /// A value that no colon follows.
    Other(Data<'a>),
    Nothing,
}

impl<'a> Scanner<'a> {
    /// Reads the one document of the text.
    pub(super) fn document(&mut self) -> Result<Option<Data<'a>>, Failure> {
        let mut first = None;
        while self.position < self.text.len() {
            let data = self.one_document()?;
            if first.is_some() {
                return self.fail("there is a second document");
            }
            first = Some(data);
        }
        Ok(first)
    }

    fn one_document(&mut self) -> Result<Data<'a>, Failure> {
        self.anchors.clear();
        self.separation(true)?;
        if self.line_indent == 0 && self.here() == b'%' {
            return self.fail("a directive must be followed by `---`");
        }
        if self.line_indent == 0 && self.text[self.position..].starts_with("---") {
            self.position += 3;
            self.separation(true)?;
        }
        let data = self.node(self.line_indent - 1, Context::BlockOut, false, true)?.data;
        self.separation(true)?;
        if self.position == self.line_start && self.at_separator() {
            if self.here() == b'.' {
                self.position += 3;
                self.separation(true)?;
            }
            return Ok(data);
        }
        if self.position < self.text.len() {
            return self.fail("the end is expected here, or a key at the start of its line");
        }
        Ok(data)
    }

    /// Reads one value below something that is indented by `parent`.
    fn node(
        &mut self,
        parent: i32,
        context: Context,
        seek: bool,
        compact: bool,
    ) -> Result<Node<'a>, Failure> {
        if self.depth >= DEEPEST {
            return self.fail("values are nested too deeply");
        }
        self.depth += 1;
        let node = self.node_within(parent, context, seek, compact);
        self.depth -= 1;
        node
    }

    fn node_within(
        &mut self,
        parent: i32,
        context: Context,
        seek: bool,
        compact: bool,
    ) -> Result<Node<'a>, Failure> {
        let in_block = matches!(context, Context::BlockIn | Context::BlockOut);
        let mut collections = in_block;
        let mut indented = Ordering::Greater;
        let mut at_new_line = false;
        if seek && self.separation(true)? > 0 {
            at_new_line = true;
            indented = self.line_indent.cmp(&parent);
        }
        let (mut tag, mut anchor) = (None, None);
        if indented == Ordering::Greater {
            while self.tag(&mut tag)? || self.anchor(&mut anchor)? {
                if self.separation(true)? > 0 {
                    at_new_line = true;
                    collections = in_block;
                    indented = self.line_indent.cmp(&parent);
                } else {
                    collections = false;
                }
            }
        }
        collections = collections && (at_new_line || compact);
        let mut read = None;
        let mut merges = false;
        if indented == Ordering::Greater || context == Context::BlockOut {
            let flow_indent = if in_block { parent + 1 } else { parent };
            // Brackets may hold many values on one line, and never ask.
            let block_indent = if collections { self.column() } else { 0 };
            if indented == Ordering::Greater {
                if collections {
                    read = self.block_collection(block_indent, flow_indent, &mut tag, &mut anchor)?;
                }
                if read.is_none() {
                    read = self.flow_collection(flow_indent, anchor)?;
                }
                if read.is_none() {
                    let quoted = match if in_block { self.block_scalar(flow_indent)? } else { None } {
                        Some(text) => Some(text),
                        None => match self.single_quoted()? {
                            Some(text) => Some(text),
                            None => self.double_quoted()?,
                        },
                    };
                    if let Some(text) = quoted {
                        read = Some(Data::Text(text.into()));
                    } else if let Some(data) = self.alias()? {
                        if tag.is_some() || anchor.is_some() {
                            return self.fail("an alias takes no tag and no anchor");
                        }
                        read = Some(data);
                    } else if let Some(text) = self.plain_scalar(flow_indent, context == Context::FlowIn)? {
                        read = Some(if tag.is_none() {
                            let (data, is_merge) = resolve::plain(text.into());
                            merges = is_merge;
                            data
                        } else {
                            Data::Text(text.into())
                        });
                    }
                    if let Some(anchor) = anchor {
                        self.anchors.insert(anchor, read.clone().unwrap_or(Data::Null));
                    }
                }
            } else if indented == Ordering::Equal && collections {
                // A list may stand as far left as the key that it belongs to.
                read = self.block_sequence(block_indent, anchor)?;
            }
        }
        let found = tag.is_some() || anchor.is_some() || read.is_some();
        let mut data = read.unwrap_or(Data::Null);
        if let Some(tag) = tag {
            (data, merges) = self.tagged(&tag, data)?;
            if let Some(anchor) = anchor {
                self.anchors.insert(anchor, data.clone());
            }
        }
        Ok(Node { found, data, merges })
    }

    fn block_collection(
        &mut self,
        indent: i32,
        flow_indent: i32,
        tag: &mut Option<Tag<'a>>,
        anchor: &mut Option<&'a str>,
    ) -> Result<Option<Data<'a>>, Failure> {
        if let Some(data) = self.block_sequence(indent, *anchor)? {
            return Ok(Some(data));
        }
        let at_end = self.position >= self.text.len();
        match self.block_mapping(indent, flow_indent, *anchor)? {
            Tried::Mapping(data) | Tried::Other(data) => Ok(Some(data)),
            Tried::Nothing => {
                // Whoever looked for a key has forgotten what stood before it, in the other clients too.
                if !at_end {
                    *tag = None;
                    *anchor = None;
                }
                Ok(None)
            }
        }
    }

    fn block_sequence(&mut self, indent: i32, anchor: Option<&'a str>) -> Result<Option<Data<'a>>, Failure> {
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor, Data::List(Rc::default()));
        }
        let mut items = Vec::new();
        let mut detected = false;
        while self.here() == b'-' && is_space(self.at(self.position + 1)) {
            detected = true;
            self.position += 1;
            if self.separation(true)? > 0 && self.line_indent <= indent {
                items.push(Data::Null);
                continue;
            }
            let line = self.line;
            items.push(self.node(indent, Context::BlockIn, false, true)?.data);
            self.separation(true)?;
            if (self.line == line || self.line_indent > indent) && self.position < self.text.len() {
                return self.fail("an item of a list is not indented like the others");
            }
            if self.line_indent < indent {
                break;
            }
        }
        if !detected {
            return Ok(None);
        }
        let data = Data::List(Rc::new(items));
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor, data.clone());
        }
        Ok(Some(data))
    }

    fn block_mapping(
        &mut self,
        indent: i32,
        flow_indent: i32,
        anchor: Option<&'a str>,
    ) -> Result<Tried<'a>, Failure> {
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor, Data::Map(Rc::default()));
        }
        let mut entries = Entries::default();
        let mut key: Option<(Data<'a>, bool)> = None;
        let (mut explicit, mut detected) = (false, false);
        while self.position < self.text.len() {
            let following = self.at(self.position + 1);
            let (line, start) = (self.line, self.position);
            let compact;
            if matches!(self.here(), b'?' | b':') && is_space(following) {
                if self.here() == b'?' {
                    if explicit {
                        self.store(&mut entries, key.take(), Data::Null, start)?;
                    }
                    detected = true;
                    explicit = true;
                } else if explicit {
                    explicit = false;
                } else {
                    return self.fail("a value has no key");
                }
                compact = true;
                self.position += 1;
            } else {
                let node = self.node(flow_indent, Context::FlowOut, false, true)?;
                if !node.found {
                    break;
                }
                if self.line != line {
                    if detected {
                        return self.fail("a key must stand on one line");
                    }
                    return Ok(Tried::Other(node.data));
                }
                while is_blank(self.here()) {
                    self.position += 1;
                }
                if self.here() != b':' {
                    if detected {
                        return self.fail("a colon is missing after a key");
                    }
                    return Ok(Tried::Other(node.data));
                }
                let after = self.step();
                if !is_space(after) {
                    return self.fail("a space is missing after the colon of a key");
                }
                if explicit {
                    self.store(&mut entries, key.take(), Data::Null, start)?;
                }
                detected = true;
                explicit = false;
                compact = false;
                key = Some((node.data, node.merges));
            }
            if self.line == line || self.line_indent > indent {
                let node = self.node(indent, Context::BlockOut, true, compact)?;
                if explicit {
                    if node.found {
                        key = Some((node.data, node.merges));
                    }
                } else {
                    self.store(&mut entries, key.take(), node.data, start)?;
                }
                self.separation(true)?;
            }
            if self.line_indent > indent && self.position < self.text.len() {
                return self.fail("a key is not indented like the others, or a value has a colon in it");
            }
            if self.line_indent < indent {
                break;
            }
        }
        if explicit {
            let start = self.position;
            self.store(&mut entries, key.take(), Data::Null, start)?;
        }
        if !detected {
            return Ok(Tried::Nothing);
        }
        let data = Data::Map(Rc::new(entries));
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor, data.clone());
        }
        Ok(Tried::Mapping(data))
    }

    fn flow_collection(&mut self, indent: i32, anchor: Option<&'a str>) -> Result<Option<Data<'a>>, Failure> {
        let (close, is_mapping) = match self.here() {
            b'[' => (b']', false),
            b'{' => (b'}', true),
            _ => return Ok(None),
        };
        if let Some(anchor) = anchor {
            let empty = if is_mapping { Data::Map(Rc::default()) } else { Data::List(Rc::default()) };
            self.anchors.insert(anchor, empty);
        }
        self.position += 1;
        let mut items = Vec::new();
        let mut entries = Entries::default();
        let mut after_comma = true;
        while self.position < self.text.len() {
            self.separation(true)?;
            if self.here() == close {
                self.position += 1;
                let data = if is_mapping { Data::Map(Rc::new(entries)) } else { Data::List(Rc::new(items)) };
                if let Some(anchor) = anchor {
                    self.anchors.insert(anchor, data.clone());
                }
                return Ok(Some(data));
            }
            if !after_comma {
                return self.fail("a comma is missing between the values in brackets");
            }
            let mut explicit = false;
            if self.here() == b'?' && is_space(self.at(self.position + 1)) {
                explicit = true;
                self.position += 1;
                self.separation(true)?;
            }
            let (line, start) = (self.line, self.position);
            let key = self.node(indent, Context::FlowIn, false, true)?;
            self.separation(true)?;
            let mut is_pair = explicit;
            let mut value = Data::Null;
            if (explicit || self.line == line) && self.here() == b':' {
                is_pair = true;
                self.position += 1;
                self.separation(true)?;
                value = self.node(indent, Context::FlowIn, false, true)?.data;
            }
            if is_mapping {
                self.store(&mut entries, Some((key.data, key.merges)), value, start)?;
            } else if is_pair {
                let mut pair = Entries::default();
                self.store(&mut pair, Some((key.data, key.merges)), value, start)?;
                items.push(Data::Map(Rc::new(pair)));
            } else {
                items.push(key.data);
            }
            self.separation(true)?;
            after_comma = self.here() == b',';
            if after_comma {
                self.position += 1;
            }
        }
        self.fail("a bracket is not closed")
    }

    /// Puts a pair into a mapping, or what a merge brings.
    fn store(
        &mut self,
        entries: &mut Entries<'a>,
        key: Option<(Data<'a>, bool)>,
        value: Data<'a>,
        start: usize,
    ) -> Result<(), Failure> {
        let (key, merges) = key.unwrap_or((Data::Null, false));
        if merges {
            let sources: &[Data<'a>] = match &value {
                Data::List(items) => items,
                single => std::slice::from_ref(single),
            };
            for source in sources {
                match source {
                    Data::Map(source) => {
                        self.merged += source.len();
                        if self.merged > MOST_MERGED {
                            return self.fail("merges bring more than is kept");
                        }
                        entries.merge(source);
                    }
                    Data::List(_) | Data::Date(_) | Data::Bytes(_) => {}
                    _ => return self.fail("only mappings can be merged"),
                }
            }
            return Ok(());
        }
        if let Data::List(items) = &key {
            if items.iter().any(|item| matches!(item, Data::List(_))) {
                return self.fail("a key cannot be a list of lists");
            }
            let length = |item: &Data<'_>| match item {
                Data::Text(text) | Data::Date(text) | Data::Bytes(text) => text.len(),
                _ => 0,
            };
            if items.iter().map(length).sum::<usize>() > LONGEST_KEY {
                return self.fail("a key is longer than is kept");
            }
        }
        let key = key.as_key();
        if entries.own(key.clone(), value) {
            return Ok(());
        }
        Err(Failure { at: start, message: format!("the key `{}` is given twice", &*key) })
    }
}
