//! What only OpenCode has: a tool that makes several calls at once, where the user has switched it on.

use crate::play::Beat;
use crate::runs::{WAITS, begin, submit, write};
use crate::stage::Stage;
use abide_testkit::model::ToolCall;
use serde_json::{Value, json};

fn batch(calls: &[ToolCall]) -> ToolCall {
    let calls: Vec<Value> =
        calls.iter().map(|call| json!({"tool": call.name, "parameters": call.arguments})).collect();
    ToolCall::new("batch", json!({"tool_calls": calls}))
}

mod real_clients {
    use super::*;
    use abide_testkit::client::Client as _;

    #[tokio::test]
    async fn opencode_puts_nothing_into_a_batch_that_the_step_does_not_grant() {
        let client = crate::opencode().config("experimental", json!({"batch_tool": true}));
        let stage = Stage::new(client);
        let read = stage.client.read(&stage.path("notes.txt"));
        let (else_, deploy) = (stage.client.shell("touch else"), stage.client.shell("./deploy.sh now"));
        // A version that has no such tool any more says so.
        let denied: &[&str] = &["is not part of step `review`", "unavailable tool"];
        let beats = vec![
            Beat::call(
                "deploy in a batch",
                batch(&[read.clone(), deploy]),
                &["reserved for runs of the ability `deploy`", "unavailable tool"],
            ),
            begin(&stage),
            Beat::call("do something else in a batch", batch(&[read, else_]), denied),
            Beat::call("hide it in two", batch(&[batch(&[stage.client.shell("touch else")])]), denied),
            write(&stage, "do the step", "review.txt", &["uccess"]),
            submit(&stage, "hand it in", WAITS),
        ];
        stage.plays("deploy it", beats).await;
        assert_eq!((stage.read("else"), stage.deployed().len()), (None, 0));
    }
}
