// swift-tools-version: 6.2
import PackageDescription

// The server has its own package, so that no other program builds Hummingbird. The server has its
// own entities, because the module of the program Pods includes a web service and an import.
//
//   server ─> PodServer ─> Lodestore, Hummingbird
//   PodServerTests ─> PodServer, AsyncHTTPClient; starts `server` and `kvdump`
//
// The package Comparison has the same answers on GRDB, for the script `load`.

let package = Package(
  name: "lodestore-server",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "PodServer", targets: ["PodServer"]),
    .executable(name: "server", targets: ["server"]),
  ],
  dependencies: [
    .package(name: "lodestore", path: "../.."),
    .package(
      url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
    .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.0.2"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.9.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.0.0"),
  ],
  targets: [
    .target(
      name: "PodServer",
      dependencies: [
        .product(name: "Lodestore", package: "lodestore"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Metrics", package: "swift-metrics"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOFoundationCompat", package: "swift-nio"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
    .executableTarget(
      name: "server",
      dependencies: [
        "PodServer",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      path: "Program"),
    .testTarget(
      name: "PodServerTests",
      dependencies: [
        "PodServer", "server",
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Lodestore", package: "lodestore"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOFoundationCompat", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "kvdump", package: "lodestore"),
      ],
      path: "Tests"),
  ],
  swiftLanguageModes: [.v6]
)
