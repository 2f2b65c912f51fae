// swift-tools-version: 6.1
import PackageDescription

// A package of its own, so that nothing in here reaches the users of the library.
let package = Package(
  name: "lodestore-benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "lodestore", path: "..", traits: [])],
  targets: [
    .systemLibrary(
      name: "CLMDBForBenchmarks", pkgConfig: "lmdb",
      providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    .target(
      name: "CRawLMDB", dependencies: ["CLMDBForBenchmarks"], cSettings: [.unsafeFlags(["-O2"])]),
    .executableTarget(
      name: "StoreBenchmark",
      dependencies: [.product(name: "EntityStore", package: "lodestore"), "CRawLMDB"]),
  ],
  swiftLanguageModes: [.v6]
)
