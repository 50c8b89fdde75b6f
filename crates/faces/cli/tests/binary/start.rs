//! How the binary is linked: a hook is started for every tool call of an agent, however large the binary becomes.

/// The loader has nothing to move in an executable at a fixed address; `build.rs` says why that matters.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn the_loader_has_no_table_of_pointers_to_move() {
    const FIXED_ADDRESS: u16 = 2; // ET_EXEC
    let header = std::fs::read(env!("CARGO_BIN_EXE_abide")).unwrap();
    assert_eq!(&header[..4], b"\x7fELF");
    assert_eq!(u16::from_le_bytes([header[16], header[17]]), FIXED_ADDRESS);
}
