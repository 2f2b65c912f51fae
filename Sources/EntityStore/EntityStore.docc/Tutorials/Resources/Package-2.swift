// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "filmlist",
  platforms: [.macOS(.v15)],
  dependencies: [.package(path: "../lodestore")],
  targets: [
    .executableTarget(
      name: "filmlist",
      dependencies: [
        .product(name: "Lodestore", package: "lodestore"),
        .product(name: "LodestoreWeb", package: "lodestore"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
