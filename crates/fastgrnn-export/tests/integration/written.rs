//! Making packages and looking into them.

use fastgrnn::quantize::IntegerModel;
use fastgrnn_export::{File, Package, PackageOptions, Target, package};

/// A package called `model`.
pub fn packed(model: &IntegerModel, target: Target) -> Package {
    package(model, target, &PackageOptions::default()).unwrap()
}

/// A package in soft float.
pub fn packed_float(model: &IntegerModel, target: Target) -> Package {
    package(model, target, &PackageOptions { float: true, ..PackageOptions::default() }).unwrap()
}

/// Writes a package into a fresh folder.
pub fn written(package: &Package) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    package.write(&folder.path().join("out"), false).unwrap();
    folder
}

/// The file of a package.
pub fn file<'a>(package: &'a Package, path: &str) -> &'a File {
    let paths = || package.files.iter().map(|f| f.path.as_str()).collect::<Vec<_>>().join(", ");
    package.files.iter().find(|f| f.path == path).unwrap_or_else(|| panic!("no {path} among {}", paths()))
}

/// Its text.
pub fn text<'a>(package: &'a Package, path: &str) -> &'a str {
    std::str::from_utf8(&file(package, path).bytes).unwrap()
}
