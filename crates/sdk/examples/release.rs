//! Starts an ability, shows its events as they happen, and answers its approval with the key of somebody else.
#![expect(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "an example talks and reads its environment"
)]

use abide_sdk::{Abide, Error, Execute, LogOptions, Options, Until};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let server = std::env::var("ABIDE_SERVER").unwrap_or_else(|_| "http://127.0.0.1:7070".to_owned());
    let ci = Abide::new(&Options::new(&server).key(variable("CI_KEY")))?;
    let ada = Abide::new(&Options::new(&server).key(variable("ADA_KEY")))?;

    let version = std::env::args().nth(1).unwrap_or_else(|| "v1.2.3".to_owned());
    let run = ci.abilities().execute(Execute::new("release").input("version", version)).await?.run;
    let telling = tokio::spawn({
        let (ci, run) = (ci.clone(), run.clone());
        async move {
            let mut events = ci.runs().stream(&run, 0);
            while let Some(event) = events.next().await? {
                println!("{} {}", event.kind, event.data["step"].as_str().unwrap_or_default());
            }
            Ok::<(), Error>(())
        }
    });

    ci.runs().wait_for(&run, Until::Asked).await?;
    if let Err(Error::Problem(problem)) = ci.approvals().answer(&run, Some("approve"), "approved", None).await
    {
        println!("ci may not approve: {}", problem.code);
    }
    let mut asked = ada.approvals().list();
    while let Some(approval) = asked.next().await? {
        if approval.id == run {
            println!("ada is asked: {}", approval.prompt);
            let step = approval.step.as_deref();
            ada.approvals().answer(&run, step, "approved", Some("looks good")).await?;
        }
    }

    let over = ci.abilities().wait_for(&run).await?;
    telling.await.expect("the task does not panic")?;
    let only = LogOptions { step: Some("ship".to_owned()), ..LogOptions::default() };
    let mut logs = ci.runs().logs(&run, &only).await?;
    while let Some(bytes) = logs.next().await? {
        print!("{}", String::from_utf8_lossy(&bytes));
    }
    println!("{}", over.status.word());
    Ok(())
}
