// Generates the messages and the service from the protocol, without protoc.
fn main() -> Result<(), Box<dyn std::error::Error>> {
    for (file, folder) in [
        ("plugin.proto", "../../framework/plugin"),
        ("control.proto", "."),
    ] {
        println!("cargo:rerun-if-changed={folder}/{file}");
        tonic_prost_build::configure()
            .build_client(false)
            .compile_fds(protox::compile([file], [folder])?)?;
    }
    Ok(())
}
