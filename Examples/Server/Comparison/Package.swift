// swift-tools-version: 6.2
import PackageDescription

// A server with two of the answers of `server`, on GRDB and SQLite, for a comparison of speed. The
// package is separate, so that `server` does not build GRDB.

let package = Package(
  name: "lodestore-server-comparison",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "lodestore-server", path: ".."),
    .package(name: "lodestore", path: "../../.."),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(
      url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
    .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
  ],
  targets: [
    .executableTarget(
      name: "grdb-server",
      dependencies: [
        .product(name: "PodServer", package: "lodestore-server"),
        .product(name: "Lodestore", package: "lodestore"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        // The script `load` also starts these programs; as dependencies they are built with this
        // package.
        .product(name: "server", package: "lodestore-server"),
        .product(name: "kvdump", package: "lodestore"),
      ],
      path: "Sources")
  ],
  swiftLanguageModes: [.v6]
)
