// swift-tools-version: 6.1
import PackageDescription

// Each program is a folder: a library with the functions, and `Program`, the executable. The tests
// of all programs are in Tests.
//
//   Films, Pods, ToDo, Fireballs ─> Lodestore, LodestoreWeb, Terminal
//   Catalogue ─> the same modules and LodestoreDatasets
//   Notes ─> Lodestore, LodestoreReplicas, Terminal
//   Service: the web service on this machine that the programs load from; only FlyingFox
//   TestSupport: stores in files that kvdump verifies when a test ends
//
// The server has its own package, Server, so that the other programs do not build Hummingbird.

/// Returns the targets of a program: a library, an executable, and its tests.
func program(_ name: String, dependencies: [Target.Dependency]) -> [Target] {
  [
    .target(
      name: name, dependencies: dependencies, path: name, exclude: ["Program", "README.md"]),
    .executableTarget(
      name: name.lowercased(), dependencies: [.byName(name: name), "Terminal", "Service"],
      path: "\(name)/Program"),
    .testTarget(
      name: "\(name)Tests",
      dependencies: [.byName(name: name), "Service", "Terminal", "TestSupport"],
      path: "Tests/\(name)Tests"),
  ]
}

let store: [Target.Dependency] = [
  .product(name: "Lodestore", package: "lodestore"), "Terminal",
]
let storeAndWeb: [Target.Dependency] =
  store + [.product(name: "LodestoreWeb", package: "lodestore")]

let storeAndDatasets: [Target.Dependency] =
  storeAndWeb + [.product(name: "LodestoreDatasets", package: "lodestore")]

let storeAndReplicas: [Target.Dependency] =
  store + [.product(name: "LodestoreReplicas", package: "lodestore")]

let package = Package(
  name: "lodestore-examples",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "lodestore", path: ".."),
    .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.0"),
  ],
  targets: [
    .target(name: "Terminal", path: "Terminal"),
    .testTarget(
      name: "TerminalTests", dependencies: ["Terminal"], path: "Tests/TerminalTests"),
    .target(
      name: "Service", dependencies: [.product(name: "FlyingFox", package: "FlyingFox")],
      path: "Service"),
    .testTarget(name: "ServiceTests", dependencies: ["Service"], path: "Tests/ServiceTests"),
    .target(
      name: "TestSupport", dependencies: [.product(name: "kvdump", package: "lodestore")],
      path: "Tests/Support"),
  ] + program("Films", dependencies: storeAndWeb)
    + program("Pods", dependencies: storeAndWeb)
    + program("ToDo", dependencies: store)
    + program("Fireballs", dependencies: storeAndWeb)
    + program("Catalogue", dependencies: storeAndDatasets)
    + program("Notes", dependencies: storeAndReplicas),
  swiftLanguageModes: [.v6]
)
