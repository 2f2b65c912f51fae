// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "filmlist",
  platforms: [.macOS(.v15)],
  dependencies: [.package(path: "../lodestore", traits: ["Macros"])],
  targets: [
    .executableTarget(
      name: "filmlist", dependencies: [.product(name: "Lodestore", package: "lodestore")])
  ],
  swiftLanguageModes: [.v6]
)
