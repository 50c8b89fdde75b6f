//! What a run would do, with the scripts beside its ability by the names under which they would run.

use crate::driver::scripts_beside;
use crate::port::Workspace;
use crate::service::Prepared;
use abide_core::plan::{Action, Known, Plan};
use abide_core::value::Value;
use std::path::Path;

/// Plans a run that was prepared, or returns every problem.
pub fn plan<W: Workspace>(workspace: &W, prepared: &Prepared) -> Result<Plan, Vec<String>> {
    let Prepared { run, secrets } = prepared;
    let mut plan = Plan::of(run, secrets)?;
    let root = Path::new(&run.created.root);
    for step in &mut plan.steps {
        let Action::Script { script, cwd, .. } = &mut step.action else { continue };
        let folder = match cwd {
            Some(Known::Now(Value::Text(cwd))) => root.join(cwd),
            _ => root.to_path_buf(),
        };
        let in_project = |word: &str| workspace.exists(root, word) || workspace.exists(&folder, word);
        *script = scripts_beside(run, script, in_project);
    }
    Ok(plan)
}
