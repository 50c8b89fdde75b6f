//! `test_math`: four operations, to see a model call tools.

use crate::function::{About, tool};
use abide_core::capability::{CapabilityId, Risk};
use abide_core::policy::ToolKind;
use abide_engine::port::{Beside, Capability, Tool, ToolError, ToolOutput};
use serde::Deserialize;
use serde_json::{Number, json};
use std::sync::Arc;

/// Adds, subtracts, multiplies and divides.
#[derive(Debug)]
pub struct TestMath;

#[derive(Deserialize)]
struct Arguments {
    a: Number,
    b: Number,
}

#[derive(Clone, Copy)]
enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
}

impl Capability for TestMath {
    fn id(&self) -> CapabilityId {
        CapabilityId::test_math()
    }

    fn name(&self) -> &'static str {
        "Test Math"
    }

    fn description(&self) -> &'static str {
        "Calculator tools for testing tool calls: add, subtract, multiply, divide."
    }

    fn system_prompt_addition(&self) -> Option<&str> {
        Some("You have access to math tools. Use them for calculations: add, subtract, multiply, divide.")
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        vec![
            operation("add", "Add two numbers.", ["The first number.", "The second number."], Operation::Add),
            operation(
                "subtract",
                "Subtract the second number from the first.",
                ["The number to subtract from.", "The number to subtract."],
                Operation::Subtract,
            ),
            operation(
                "multiply",
                "Multiply two numbers.",
                ["The first number.", "The second number."],
                Operation::Multiply,
            ),
            operation(
                "divide",
                "Divide the first number by the second.",
                ["The number to divide.", "The number to divide by; not zero."],
                Operation::Divide,
            ),
        ]
    }

    fn icon(&self) -> Option<&str> {
        Some("calculator")
    }

    fn category(&self) -> Option<&str> {
        Some("Testing")
    }
}

fn operation(
    name: &'static str,
    description: &'static str,
    says: [&str; 2],
    operation: Operation,
) -> Arc<dyn Tool> {
    let about = About {
        name,
        description,
        arguments: json!({
            "type": "object",
            "properties": {
                "a": { "type": "number", "description": says[0] },
                "b": { "type": "number", "description": says[1] }
            },
            "required": ["a", "b"],
            "additionalProperties": false
        }),
        kind: ToolKind::Read,
        risk: Risk::None,
        beside: Beside::Others,
        examples: vec![json!({ "a": 6, "b": 3 }), json!({ "a": 0.5, "b": -2 })],
    };
    tool(about, move |Arguments { a, b }: Arguments, _| {
        let answer = compute(operation, &a, &b);
        async { answer.map(|result| ToolOutput::Json(json!({ "result": result }))) }
    })
}

/// Whole numbers stay whole as long as they fit; everything else is a float.
fn compute(operation: Operation, a: &Number, b: &Number) -> Result<Number, ToolError> {
    if let (Some(a), Some(b)) = (a.as_i64(), b.as_i64()) {
        let whole = match operation {
            Operation::Add => a.checked_add(b),
            Operation::Subtract => a.checked_sub(b),
            Operation::Multiply => a.checked_mul(b),
            Operation::Divide => a.checked_rem(b).filter(|rest| *rest == 0).and_then(|_| a.checked_div(b)),
        };
        if let Some(whole) = whole {
            return Ok(whole.into());
        }
    }
    let (Some(a), Some(b)) = (a.as_f64(), b.as_f64()) else {
        return Err(ToolError::Failed("a number is too large".to_owned()));
    };
    let result = match operation {
        Operation::Add => a + b,
        Operation::Subtract => a - b,
        Operation::Multiply => a * b,
        Operation::Divide if b == 0.0 => {
            return Err(ToolError::Failed("a number cannot be divided by zero".to_owned()));
        }
        Operation::Divide => a / b,
    };
    Number::from_f64(result).ok_or_else(|| ToolError::Failed("the result is too large".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn numbers_are_computed_and_whole_ones_stay_whole() {
        use Operation::{Add, Divide, Multiply, Subtract};
        let number = |value: Value| value.as_number().unwrap().clone();
        for (operation, a, b, result) in [
            (Add, json!(2), json!(3), json!(5)),
            (Add, json!(0.1), json!(1), json!(1.1)),
            (Subtract, json!(2), json!(3), json!(-1)),
            (Multiply, json!(1.5), json!(2), json!(3.0)),
            (Divide, json!(6), json!(3), json!(2)),
            (Divide, json!(7), json!(2), json!(3.5)),
            (Add, json!(i64::MAX), json!(1), json!(9_223_372_036_854_775_808.0)),
            (Divide, json!(i64::MIN), json!(-1), json!(9_223_372_036_854_775_808.0)),
        ] {
            assert_eq!(Value::Number(compute(operation, &number(a), &number(b)).unwrap()), result);
        }
        for (operation, a, b) in [
            (Divide, json!(1), json!(0)),
            (Divide, json!(1), json!(-0.0)),
            (Multiply, json!(1e308), json!(10)),
        ] {
            assert_eq!(compute(operation, &number(a), &number(b)).unwrap_err().code(), "failed");
        }
    }
}
