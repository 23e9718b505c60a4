// Generates the messages and the service from the protocol, without protoc.
fn main() -> Result<(), Box<dyn std::error::Error>> {
    for (file, directory) in [
        ("plugin.proto", "../../framework/plugin"),
        ("control.proto", "."),
    ] {
        println!("cargo:rerun-if-changed={directory}/{file}");
        tonic_prost_build::configure()
            .build_client(false)
            .compile_fds(protox::compile([file], [directory])?)?;
    }
    Ok(())
}
