//! `abide schema FORMAT`

use crate::args::{SchemaArguments, SchemaFormat};
use crate::session::Session;
use crate::{Exit, Failure};
use abide_formats::schema::{Format, pretty, schema as schema_of};

pub(crate) fn schema(session: &mut Session<'_>, arguments: &SchemaArguments) -> Result<Exit, Failure> {
    let format = match arguments.format {
        SchemaFormat::Ability => Format::Ability,
        SchemaFormat::Config => Format::Config,
        SchemaFormat::Agent => Format::Agent,
        SchemaFormat::Capability => Format::Capability,
    };
    session.print(&pretty(&schema_of(format)))?;
    Ok(Exit::Done)
}
