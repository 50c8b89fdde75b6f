//! Both wire formats keep the contract of models.

mod anthropic {
    use crate::served::Served;
    use abide_core::definition::WireFormat;
    abide_testkit::model_contract!(Served(WireFormat::Anthropic));
}

mod chat {
    use crate::served::Served;
    use abide_core::definition::WireFormat;
    abide_testkit::model_contract!(Served(WireFormat::OpenAi));
}
