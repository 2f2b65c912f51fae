// swift-tools-version: 6.1
import PackageDescription

// The benchmarks are a separate package, so that users of the library get none of its dependencies.
//
//   StoreBenchmark ─> Lodestore, Foundation
//        ├─> CRawLMDB ───> CRecords
//        ├─> CRawSQLite ─> CRecords   (empty without the trait SQLite)
//        ├─> GRDB                     (neither fetched nor built without the trait GRDB)
//        └─> CCallgrind
//   ReplicaBenchmark ─> LodestoreReplicas   (empty without the trait Replicas)
//   PostgresBenchmark ─> LodestorePostgres  (empty without the trait Postgres)
//   SearchBenchmark ─> EntityStore
//   VectorBenchmark ─> EntityStore
//   each ─> BenchmarkFigures
let package = Package(
  name: "lodestore-benchmarks",
  platforms: [.macOS(.v15)],
  traits: [
    .default(enabledTraits: ["Records"]),
    .trait(name: "Records", description: "StoreBenchmark, which alone uses the macros"),
    .trait(name: "SQLite", description: "SQLite in the same run; needs the system's sqlite3"),
    .trait(name: "GRDB", description: "GRDB in the same run; fetches it, needs sqlite3"),
    .trait(name: "Replicas", description: "ReplicaBenchmark; needs libzstd, builds NIO on Linux"),
    .trait(name: "Postgres", description: "PostgresBenchmark; needs libpq"),
    .trait(name: "Search", description: "SearchBenchmark; needs the system's sqlite3"),
    .trait(name: "Vectors", description: "VectorBenchmark"),
  ],
  dependencies: [
    .package(
      name: "lodestore", path: "..",
      // One trait a build: SwiftPM passes several in an order that differs from run to run, and
      // another order compiles every file again.
      traits: [
        .trait(name: "Macros", condition: .when(traits: ["Records"])),
        .trait(name: "Complete", condition: .when(traits: ["Replicas"])),
        .trait(name: "Postgres", condition: .when(traits: ["Postgres"])),
      ]),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.0.0"),
  ],
  targets: [
    .systemLibrary(
      name: "CLMDBForBenchmarks", pkgConfig: "lmdb",
      providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    .systemLibrary(
      name: "CSQLiteForBenchmarks", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .target(name: "BenchmarkFigures"),
    .target(name: "CCallgrind"),
    .target(name: "CRecords", cSettings: [.unsafeFlags(["-O2"])]),
    .target(
      name: "CRawLMDB", dependencies: ["CLMDBForBenchmarks", "CRecords"],
      cSettings: [.unsafeFlags(["-O2"])]),
    // Every target is built, even without the trait `SQLite`; its sources are then empty.
    .target(
      name: "CRawSQLite",
      dependencies: [
        "CRecords",
        .target(name: "CSQLiteForBenchmarks", condition: .when(traits: ["SQLite"])),
      ],
      cSettings: [
        .unsafeFlags(["-O2"]), .define("WITH_SQLITE", .when(traits: ["SQLite"])),
      ]),
    .executableTarget(
      name: "StoreBenchmark",
      dependencies: [
        .product(name: "Lodestore", package: "lodestore"), "BenchmarkFigures", "CCallgrind",
        "CRawLMDB", "CRecords",
        .target(name: "CRawSQLite", condition: .when(traits: ["SQLite"])),
        .target(name: "CSQLiteForBenchmarks", condition: .when(traits: ["SQLite"])),
        .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["GRDB"])),
      ]),
    // Apart, because it builds NIO and swift-crypto, which StoreBenchmark does not need.
    .executableTarget(
      name: "ReplicaBenchmark",
      dependencies: [
        "BenchmarkFigures",
        .product(
          name: "EntityStore", package: "lodestore", condition: .when(traits: ["Replicas"])),
        .product(
          name: "LodestoreReplicas", package: "lodestore", condition: .when(traits: ["Replicas"])),
      ]),
    // Apart, because it needs libpq.
    .executableTarget(
      name: "PostgresBenchmark",
      dependencies: [
        "BenchmarkFigures",
        .product(
          name: "EntityStore", package: "lodestore", condition: .when(traits: ["Postgres"])),
        .product(
          name: "LodestorePostgres", package: "lodestore", condition: .when(traits: ["Postgres"])),
      ]),
    // Apart, because it needs neither macros nor the other sides.
    .executableTarget(
      name: "SearchBenchmark",
      dependencies: [
        "BenchmarkFigures",
        .target(name: "CSQLiteForBenchmarks", condition: .when(traits: ["Search"])),
        .product(
          name: "EntityStore", package: "lodestore", condition: .when(traits: ["Search"])),
      ]),
    // Apart, because it needs neither macros nor the other sides.
    .executableTarget(
      name: "VectorBenchmark",
      dependencies: [
        "BenchmarkFigures",
        .product(
          name: "EntityStore", package: "lodestore", condition: .when(traits: ["Vectors"])),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
