//! The files in memory keep the contract of their port.

abide_testkit::files_contract!(|clock| (abide_capabilities::MemoryFiles::new(clock), ()));
