// swift-tools-version: 6.1
import PackageDescription

// A package of its own, so that nothing in here reaches the users of the library.
let package = Package(
  name: "lodestore-benchmarks",
  platforms: [.macOS(.v15)],
  traits: [
    .trait(name: "SQLite", description: "SQLite in the same run; needs the system's sqlite3")
  ],
  dependencies: [.package(name: "lodestore", path: "..", traits: [])],
  targets: [
    .systemLibrary(
      name: "CLMDBForBenchmarks", pkgConfig: "lmdb",
      providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    .systemLibrary(
      name: "CSQLiteForBenchmarks", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .target(
      name: "CRawLMDB", dependencies: ["CLMDBForBenchmarks"], cSettings: [.unsafeFlags(["-O2"])]),
    // Every target is built, so without the trait this one is empty.
    .target(
      name: "CRawSQLite",
      dependencies: [
        "CRawLMDB", .target(name: "CSQLiteForBenchmarks", condition: .when(traits: ["SQLite"])),
      ],
      cSettings: [
        .unsafeFlags(["-O2"]), .define("WITH_SQLITE", .when(traits: ["SQLite"])),
      ]),
    .executableTarget(
      name: "StoreBenchmark",
      dependencies: [
        .product(name: "EntityStore", package: "lodestore"), "CRawLMDB",
        .target(name: "CRawSQLite", condition: .when(traits: ["SQLite"])),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
