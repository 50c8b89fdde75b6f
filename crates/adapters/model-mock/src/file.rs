//! Scripts that people write: a YAML list of turns, read strictly.

use super::{Fault, Tokens, ToolCall, Turn};
use abide_core::diagnostic::nearest;
use abide_core::value::{Duration, Value};
use abide_formats::json::to_json;

/// The most turns of a script.
const MOST: usize = 10_000;

/// Reads a script; the error says which turn is meant.
pub fn read(text: &str) -> Result<Vec<Turn>, String> {
    let Value::List(turns) = abide_formats::yaml::data(text)? else {
        return Err("a script is a list of turns, such as `- text: hello`".to_owned());
    };
    if turns.len() > MOST {
        return Err(format!("a script has at most {MOST} turns"));
    }
    let numbered = turns.iter().enumerate();
    numbered.map(|(number, value)| turn(value).map_err(|why| format!("turn {}: {why}", number + 1))).collect()
}

fn turn(value: &Value) -> Result<Turn, String> {
    let mut turn = Turn::default();
    match value {
        Value::Text(text) => turn.text.clone_from(text),
        Value::Map(entries) => {
            for (key, value) in entries {
                match key.as_str() {
                    "text" => turn.text = text_of(key, value)?,
                    "call" => turn.calls.push(call(value)?),
                    "calls" => {
                        let Value::List(calls) = value else { return Err("`calls` is a list".to_owned()) };
                        turn.calls = calls.iter().map(call).collect::<Result<_, _>>()?;
                    }
                    "fault" => turn.fault = Some(fault(value)?),
                    "tokens" => turn.tokens = Some(tokens(value)?),
                    other => return Err(unknown(other, &["text", "call", "calls", "fault", "tokens"])),
                }
            }
        }
        _ => return Err("a turn is a text, or a mapping with `text`, `call`, `fault`".to_owned()),
    }
    if turn.text.is_empty() && turn.calls.is_empty() && turn.fault.is_none() {
        return Err("it says nothing, calls nothing, and nothing goes wrong in it".to_owned());
    }
    Ok(turn)
}

fn call(value: &Value) -> Result<ToolCall, String> {
    let Value::Map(entries) = value else {
        return Err("a call is a mapping with `tool` and `arguments`".to_owned());
    };
    let (mut tool, mut arguments) = (None, serde_json::json!({}));
    for (key, value) in entries {
        match key.as_str() {
            "tool" => tool = Some(text_of(key, value)?),
            "arguments" => arguments = to_json(value),
            other => return Err(unknown(other, &["tool", "arguments"])),
        }
    }
    Ok(ToolCall::new(tool.ok_or("a call needs `tool`")?, arguments))
}

fn fault(value: &Value) -> Result<Fault, String> {
    const WORDS: [&str; 11] = [
        "slow",
        "late",
        "cut_off",
        "too_many_requests",
        "overloaded",
        "malformed",
        "huge",
        "stalled",
        "silent",
        "status",
        "fails_midway",
    ];
    let (word, with) = match value {
        Value::Text(word) => (word.as_str(), &Value::Null),
        Value::Map(entries) => match entries.as_slice() {
            [(word, with)] => (word.as_str(), with),
            _ => return Err("`fault` has one entry, such as `slow: 2s`".to_owned()),
        },
        _ => return Err("`fault` is a word, or one with a value, such as `slow: 2s`".to_owned()),
    };
    let number = |what: &str| match with {
        Value::Int(number) => u64::try_from(*number).map_err(|_| format!("`{word}` wants {what}")),
        _ => Err(format!("`{word}` wants {what}")),
    };
    Ok(match word {
        "slow" | "late" => {
            let time = Duration::parse(&text_of(word, with)?)
                .map_err(|_| format!("`{word}` wants a time, such as `500ms`"))?
                .time();
            if word == "slow" { Fault::Slow(time) } else { Fault::Late(time) }
        }
        "cut_off" => Fault::CutOff,
        "too_many_requests" => Fault::TooManyRequests(match with {
            Value::Null => None,
            _ => Some(u32::try_from(number("seconds to wait")?).unwrap_or(u32::MAX)),
        }),
        "overloaded" => Fault::Overloaded,
        "malformed" => Fault::Malformed,
        "huge" => Fault::Huge(usize::try_from(number("a number of bytes")?).unwrap_or(usize::MAX)),
        "stalled" => Fault::Stalled,
        "silent" => Fault::Silent,
        "status" => {
            let status = u16::try_from(number("a status such as 500")?).ok().filter(|status| *status >= 400);
            Fault::Status(
                status.ok_or("`status` wants a status such as 500")?,
                "the script says so".to_owned(),
            )
        }
        "fails_midway" => Fault::FailsMidway,
        other => return Err(unknown(other, &WORDS)),
    })
}

fn tokens(value: &Value) -> Result<Tokens, String> {
    let Value::Map(entries) = value else { return Err("`tokens` is a mapping".to_owned()) };
    let mut tokens = Tokens::default();
    for (key, value) in entries {
        let place = match key.as_str() {
            "input" => &mut tokens.input,
            "output" => &mut tokens.output,
            "cache_read" => &mut tokens.cache_read,
            "cache_write" => &mut tokens.cache_write,
            other => return Err(unknown(other, &["input", "output", "cache_read", "cache_write"])),
        };
        let Value::Int(number) = value else { return Err(format!("`{key}` is a number of tokens")) };
        *place = u64::try_from(*number).map_err(|_| format!("`{key}` is a number of tokens"))?;
    }
    Ok(tokens)
}

fn text_of(key: &str, value: &Value) -> Result<String, String> {
    match value {
        Value::Text(text) => Ok(text.clone()),
        Value::Int(_) | Value::Float(_) | Value::Bool(_) => Ok(value.to_string()),
        _ => Err(format!("`{key}` is a text")),
    }
}

fn unknown(key: &str, known: &[&str]) -> String {
    match nearest(key, known.iter().copied()) {
        Some(near) => format!("`{key}` is not known here; did you mean `{near}`?"),
        None => format!("`{key}` is not known here; there are {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_script_is_read() {
        let script = "- hello\n- text: I write.\n  call: { tool: write_file, arguments: { path: a, content: 1 } }\n- calls: [{ tool: a }, { tool: b }]\n  tokens: { input: 7, output: 2 }\n- fault: { too_many_requests: 3 }\n- fault: overloaded\n- { text: late, fault: { slow: 500ms } }\n- fault: { status: 503 }\n- { text: later, fault: { late: 50ms } }\n";
        let turns = read(script).unwrap();
        assert_eq!(turns[0], Turn::text("hello"));
        let write = ToolCall::new("write_file", json!({"path": "a", "content": 1}));
        assert_eq!(turns[1], Turn { text: "I write.".into(), ..Turn::call(write) });
        assert_eq!((turns[2].calls.len(), turns[2].tokens.unwrap().input), (2, 7));
        assert_eq!(turns[3].fault, Some(Fault::TooManyRequests(Some(3))));
        assert_eq!(turns[4].fault, Some(Fault::Overloaded));
        assert_eq!(turns[5].fault, Some(Fault::Slow(std::time::Duration::from_millis(500))));
        assert_eq!(turns[6].fault, Some(Fault::Status(503, "the script says so".into())));
        assert_eq!(turns[7].fault, Some(Fault::Late(std::time::Duration::from_millis(50))));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_turn() {
        for (script, why) in [
            ("text: hello", "a script is a list of turns"),
            ("- txt: hello", "turn 1: `txt` is not known here; did you mean `text`?"),
            ("- a\n- call: { arguments: {} }", "turn 2: a call needs `tool`"),
            ("- fault: slwo", "did you mean `slow`?"),
            ("- fault: { slow: soon }", "such as `500ms`"),
            ("- fault: { late: soon }", "`late` wants a time"),
            ("- fault: { status: 200 }", "a status such as 500"),
            ("- {}", "turn 1: it says nothing"),
            ("- text: [", "turn"),
        ] {
            let found = read(script).unwrap_err();
            assert!(found.contains(why) || script.ends_with('['), "{script}: {found}");
        }
    }
}
