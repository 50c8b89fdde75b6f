//! Skills and models: both lie on the disk, so the house looks.

use super::excerpt::page;
use crate::ask::Ask;
use crate::door::Answered;
use crate::house::{House, Look};
use crate::reply::Reply;

pub(super) async fn list<H: House>(house: &H, ask: &Ask) -> Answered {
    let skills = house.look(Look::Skills).await?;
    Ok(Reply::done(&page(skills, "skills", "file", ask)?))
}

pub(super) async fn show<H: House>(house: &H, ask: &Ask) -> Answered {
    Ok(Reply::done(&house.look(Look::Skill(ask.part(0).to_owned())).await?))
}

pub(super) async fn models<H: House>(house: &H) -> Answered {
    Ok(Reply::done(&house.look(Look::Models).await?))
}
