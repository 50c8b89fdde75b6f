//! What agents know, and what they think with: skills and models.

use crate::error::Error;
use crate::types::{ModelListing, SkillRow};
use crate::wire::Wire;
use serde::Deserialize;
use serde_json::Value;

/// Skills.
#[derive(Debug, Clone, Copy)]
pub struct Skills<'a>(pub(crate) &'a Wire);

impl Skills<'_> {
    /// Lists the skills of every client, those that cannot be used too, with the reason.
    pub async fn list(&self) -> Result<Vec<SkillRow>, Error> {
        #[derive(Deserialize)]
        struct Listing {
            skills: Vec<SkillRow>,
        }
        Ok(self.0.get::<Listing>("/v1/skills", &[]).await?.skills)
    }

    /// Shows a skill: whether it can be used, what it requires, whether it is trusted, and what it says.
    pub async fn get(&self, skill: &str) -> Result<Value, Error> {
        self.0.get("/v1/skills/{}", &[skill]).await
    }
}

/// Models.
#[derive(Debug, Clone, Copy)]
pub struct Models<'a>(pub(crate) &'a Wire);

impl Models<'_> {
    /// Lists models and who serves them, each usable or with what is missing.
    pub async fn list(&self) -> Result<ModelListing, Error> {
        self.0.get("/v1/models", &[]).await
    }
}
