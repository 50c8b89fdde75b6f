//! The tools for abilities where there is no protocol: the same table, the same arguments and the same desk for a loop in
//! this process.

use crate::arguments::Arguments;
use crate::bounds::bounded;
use crate::desk::{Caller, Cancellation, Desk, MoreTool, Report, Start, Submission, Talk};
use crate::tools::Own;
use serde_json::{Map, Value};

/// Returns the tools for abilities, in the order in which they are listed.
pub fn ability_tools() -> Vec<MoreTool> {
    Own::ALL.into_iter().map(Own::described).collect()
}

/// Calls one of them; nothing when there is none of that name.
pub async fn call_ability_tool<D: Desk>(
    desk: &D,
    tool: &str,
    given: Map<String, Value>,
    caller: Caller,
    talk: &dyn Talk,
) -> Option<Report> {
    let tool = Own::named(tool)?;
    Some(match Arguments::read(tool, &given) {
        Ok(arguments) => bounded(call(desk, tool, arguments, given, caller, talk).await),
        Err(problems) => Report::failure(problems),
    })
}

/// Calls the method of the desk that a tool stands for.
pub(crate) async fn call<D: Desk>(
    desk: &D,
    tool: Own,
    mut arguments: Arguments,
    given: Map<String, Value>,
    caller: Caller,
    talk: &dyn Talk,
) -> Report {
    let raw = Value::Object(given);
    match tool {
        Own::List => desk.list(&caller).await,
        Own::Status => desk.status(arguments.text("run"), &caller).await,
        Own::Validate => desk.validate(arguments.text("ability"), &caller).await,
        Own::Agent => desk.agent(arguments.text("agent"), &caller).await,
        Own::Run => {
            let asked = Start {
                ability: arguments.text("ability").unwrap_or_default(),
                inputs: arguments.object("inputs"),
                input: arguments.text("input"),
                raw,
                caller,
            };
            desk.run(asked, talk).await
        }
        Own::Submit => {
            let asked = Submission {
                run: arguments.text("run").unwrap_or_default(),
                step: arguments.text("step").unwrap_or_default(),
                output: arguments.value("output"),
                raw,
                caller,
            };
            desk.submit(asked, talk).await
        }
        Own::Cancel => {
            let asked =
                Cancellation { run: arguments.text("run"), reason: arguments.text("reason"), raw, caller };
            desk.cancel(asked, talk).await
        }
    }
}
