//! Embeds the scenario suite, so that the program needs no files beside it.

use std::{
    env,
    error::Error,
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
};

fn main() -> Result<(), Box<dyn Error>> {
    let package = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    // In the workspace the suite lies beside the crate, in a published package inside it.
    let places = [package.join("scenarios"), package.join("../scenarios")];
    let root = places
        .iter()
        .find(|place| place.is_dir())
        .ok_or("the folder `scenarios` is missing")?
        .canonicalize()?;
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort_by(|one, other| (one.parent(), one.file_name()).cmp(&(other.parent(), other.file_name())));

    let mut source = String::from("const EMBEDDED: &[(&str, &str)] = &[\n");
    for file in &files {
        let name: Vec<_> = file.strip_prefix(&root)?.iter().map(|part| part.to_string_lossy()).collect();
        writeln!(source, "    ({:?}, include_str!({:?})),", name.join("/"), file.display().to_string())?;
    }
    source.push_str("];\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("embedded_scenarios.rs"), source)?;
    // The folder stands for files that come and go, each file for what is in it.
    println!("cargo::rerun-if-changed={}", root.display());
    for file in &files {
        println!("cargo::rerun-if-changed={}", file.display());
    }
    println!("cargo::rerun-if-changed=build.rs");
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
    Ok(())
}
