//! The loop detector: an agent that makes the same call again and again is stopped from it.

use crate::model::{Arguments, ToolCall};
use crate::value::Value;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// How often each call was made in a turn; shared with the children of the turn.
///
/// Calls are the same when they name the same tool and the same data, whatever the order of its keys.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Repeats(BTreeMap<u64, u32>);

impl Repeats {
    /// How often a call may be made.
    pub const MOST: u32 = 2;

    /// Counts a call; returns whether it came too often.
    pub fn count(&mut self, call: &ToolCall) -> bool {
        let seen = self.0.entry(mark(call)).or_default();
        *seen = seen.saturating_add(1);
        *seen > Self::MOST
    }

    /// Adds what somebody else has counted beside this.
    pub fn add(&mut self, other: &Self) {
        for (mark, count) in &other.0 {
            let seen = self.0.entry(*mark).or_default();
            *seen = seen.saturating_add(*count);
        }
    }

    /// Takes over what somebody else has counted, where that is more.
    pub fn join(&mut self, other: &Self) {
        for (mark, count) in &other.0 {
            let seen = self.0.entry(*mark).or_default();
            *seen = (*seen).max(*count);
        }
    }
}

/// Returns a number that stands for a call. Two calls that share one by chance cost a denial, and nothing is stored.
fn mark(call: &ToolCall) -> u64 {
    let mut state = DefaultHasher::new();
    call.name.hash(&mut state);
    match &call.arguments {
        Arguments::Data(value) => hash(value, &mut state),
        Arguments::Unreadable(text) => (u8::MAX, text).hash(&mut state),
    }
    state.finish()
}

fn hash(value: &Value, state: &mut DefaultHasher) {
    match value {
        Value::Null => 0_u8.hash(state),
        Value::Bool(value) => (1_u8, value).hash(state),
        Value::Int(value) => (2_u8, value).hash(state),
        Value::Float(value) => (3_u8, value.to_bits()).hash(state),
        Value::Text(text) => (4_u8, text).hash(state),
        Value::List(items) => {
            (5_u8, items.len()).hash(state);
            for item in items {
                hash(item, state);
            }
        }
        Value::Map(entries) => {
            (6_u8, entries.len()).hash(state);
            let mut entries: Vec<&(String, Value)> = entries.iter().collect();
            entries.sort_by(|one, other| one.0.cmp(&other.0));
            for (name, value) in entries {
                name.hash(state);
                hash(value, state);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, arguments: Value) -> ToolCall {
        ToolCall { id: "any".into(), name: name.into(), arguments: Arguments::Data(arguments) }
    }

    #[test]
    fn the_third_call_that_is_the_same_is_one_too_many() {
        let map = |names: [&str; 2]| Value::Map(names.map(|name| (name.to_owned(), Value::Int(1))).into());
        let mut repeats = Repeats::default();
        assert!(!repeats.count(&call("grep", map(["a", "b"]))));
        assert!(!repeats.count(&call("grep", map(["b", "a"]))), "the order of keys says nothing");
        for (name, arguments) in [("read", map(["a", "b"])), ("grep", map(["a", "c"])), ("grep", Value::Null)]
        {
            assert!(!repeats.count(&call(name, arguments)));
        }
        let mut child = repeats.clone();
        assert!(repeats.count(&call("grep", map(["a", "b"]))));
        assert!(repeats.count(&call("grep", map(["a", "b"]))), "and stays so");
        assert!(!child.count(&call("read", map(["a", "b"]))));
        child.join(&repeats);
        assert!(child.count(&call("grep", map(["a", "b"]))), "what one has counted, the other knows");
    }

    #[test]
    fn texts_lists_and_numbers_are_told_apart() {
        let values = [
            Value::Text("1".into()),
            Value::Int(1),
            Value::Float(1.0),
            Value::Bool(true),
            Value::List(vec![Value::Int(1)]),
            Value::List(vec![Value::List(vec![Value::Int(1)])]),
        ];
        let marks: std::collections::BTreeSet<u64> =
            values.iter().map(|value| mark(&call("t", value.clone()))).collect();
        assert_eq!(marks.len(), values.len());
        let unreadable = ToolCall { arguments: Arguments::Unreadable("1".into()), ..call("t", Value::Null) };
        assert!(!marks.contains(&mark(&unreadable)));
    }
}
