# contained
# A build script, a manifest, a configuration of cargo and a specification: none is taken.
mkdir -p exercises/day22/src exercises/day22/.cargo .cargo crates/course/src
cp "$right/mul_add.rs" "$right/mul_add.cu" exercises/day22/src
echo "fn main() { std::fs::write(\"$outside/hostile\", \"x\").unwrap(); }" > exercises/day22/build.rs
printf '[package]\nname = "exercises-day22"\nbuild = "build.rs"\n' > exercises/day22/Cargo.toml
printf '[build]\nrustc-wrapper = "/bin/false"\n' | tee .cargo/config.toml > exercises/day22/.cargo/config.toml
printf '[toolchain]\nchannel = "none"\n' > rust-toolchain.toml
echo 'compile_error!("taken");' > crates/course/src/lib.rs
