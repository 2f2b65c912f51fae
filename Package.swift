// swift-tools-version: 6.1
import CompilerPluginSupport
import PackageDescription

// Target map (see Sources/README.md):
//
//   your program ─> Lodestore ─> EntityStore ─> LMDB ─> CLMDB
//                       │             │            └──> LodestorePages ─> LodestoreFormat ─> CChecksum
//                       │             └───────> LodestoreJSON (exported by EntityStore)
//                       └─> EntityMacros (with the trait "Macros" or "Complete")
//   LodestoreFoundation ─> EntityStore
//   LodestoreMaintenance ─> EntityStore, LodestoreVerifier, and what these build upon
//   LodestoreRepair ─> EntityStore, LodestoreVerifier, and what these build upon
//   LodestoreWeb ─> EntityStore; on Linux CZlib and async-http-client (only with the trait "Web" or "Complete")
//   LodestoreDatasets ─> LodestoreWeb, and what these build upon; CZstd and swift-crypto (only with "Datasets" or "Complete")
//   LodestoreReplicas ─> LodestoreDatasets, and what these build upon (only with "Datasets" or "Complete")
//   LodestorePostgres ─> EntityStore; CPostgres, which is libpq (only with the trait "Postgres")
//   LodestoreRows ─> EntityStore, LodestoreFormat, LodestoreJSON, LodestoreBytes
//   LodestoreInspector ─> LodestoreRows; the sockets of FlyingFox (only with "Inspector" or "Complete")
//   LodestoreVerifier ─> LodestorePages, LMDB, LodestoreFormat
//   kvdump ─> KVDumpCommands ─> CLineEditor, LodestoreRows, LodestoreRepair, LodestoreVerifier
//   kvdump-datasets ─> KVDumpDatasetCommands ─> KVDumpCommands, LodestoreDatasets, LodestoreReplicas
//   kvdump-inspector ─> KVDumpInspectorCommands ─> KVDumpCommands, LodestoreInspector
//   each with bytes of others ─> LodestoreBytes
//   each that calls the system ─> LodestoreSystem
//   each with dates or data ─> LodestoreEssentials
//
// swift-syntax is reached only through the trait "Macros", and only by the targets `Lodestore` and
// `EntityMacros`: kvdump, EntityStore and hand-written entities never
// build it.
//
// async-http-client, and with it NIO and BoringSSL, is reached only through the trait "Web", on
// Linux, and by the target `LodestoreWeb`: nothing else builds it, and without the trait it is not
// even fetched. It is there because FoundationNetworking ends the process by bytes of a server.
// Hostile answers were tried on 1.37.0, which is why nothing older is taken. `CZlib` inflates under
// a limit of bytes; the client's own zlib is no product.
//
// Views of records cannot escape by the experimental feature `Lifetimes`, where the compiler has
// it; LODESTORE_BORROWED_VIEWS in the environment builds them as compilers without it do.
let hasBorrowedViews = Context.environment["LODESTORE_BORROWED_VIEWS"] != nil
// LODESTORE_FUZZ in the environment adds the fuzz targets, which only tools/fuzz can build.
let hasFuzzing = Context.environment["LODESTORE_FUZZ"] != nil

// swift-crypto is reached only through the trait "Datasets", on Linux, and by `LodestoreDatasets`:
// macOS has the same functions in CryptoKit. The commands that fetch and sign are a program of
// their own, so that kvdump builds neither NIO nor swift-crypto.
//
// FlyingFox is reached only through the trait "Inspector", and by `LodestoreInspector`, which uses
// its sockets alone: its HTTP server has no limits, and needs all of Foundation. `kvdump serve` is
// a program of its own too, so that kvdump has no sockets.
//
// "Macros", "Web", "Datasets" and "Inspector" are enabled together by default, as the one trait
// "Complete".
// SwiftPM passes each enabled trait to the compiler as a flag. The order of the flags differs from
// run to run, and another order compiles every file again: with two default traits, some 500 files
// after each change of a program's own manifest. So the default is one flag, and the settings below
// derive the others from it in a fixed order.

// "Postgres" is not part of "Complete", because few programs have a PostgreSQL server, and a build
// would then need libpq on each machine. LODESTORE_POSTGRES in the environment enables the module
// for the package's own tests: a second trait would compile all other modules again.
let hasPostgres = Context.environment["LODESTORE_POSTGRES"] != nil

/// What `LodestoreWeb` needs where there is no sound `URLSession`.
let onLinux = TargetDependencyCondition.when(platforms: [.linux], traits: ["Web", "Complete"])
/// What `LodestoreDatasets` needs, and on Linux, where there is no CryptoKit.
let forDatasets = TargetDependencyCondition.when(traits: ["Datasets", "Complete"])
let forDatasetsOnLinux = TargetDependencyCondition.when(
  platforms: [.linux], traits: ["Datasets", "Complete"])
/// The trait by which `LodestoreInspector` gets its server.
let forInspector = TargetDependencyCondition.when(traits: ["Inspector", "Complete"])
/// What `LodestorePostgres` needs.
let forPostgres: TargetDependencyCondition? = hasPostgres ? nil : .when(traits: ["Postgres"])
/// What the macros need.
let withMacros = TargetDependencyCondition.when(traits: ["Macros", "Complete"])
let macroSettings: [SwiftSetting] = [.define("Macros", .when(traits: ["Complete"]))]
let webSettings: [SwiftSetting] = [.define("Web", .when(traits: ["Complete"]))]
let datasetSettings: [SwiftSetting] = [.define("Datasets", .when(traits: ["Complete"]))]
let inspectorSettings: [SwiftSetting] = [.define("Inspector", .when(traits: ["Complete"]))]
let postgresSettings: [SwiftSetting] = hasPostgres ? [.define("Postgres")] : []

let package = Package(
  name: "lodestore",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "Lodestore", targets: ["Lodestore"]),
    .library(name: "EntityStore", targets: ["EntityStore"]),
    .library(name: "LodestoreFoundation", targets: ["LodestoreFoundation"]),
    .library(name: "LodestoreMaintenance", targets: ["LodestoreMaintenance"]),
    .library(name: "LodestoreRepair", targets: ["LodestoreRepair"]),
    .library(name: "LodestoreWeb", targets: ["LodestoreWeb"]),
    .library(name: "LodestoreDatasets", targets: ["LodestoreDatasets"]),
    .library(name: "LodestoreReplicas", targets: ["LodestoreReplicas"]),
    .library(name: "LodestorePostgres", targets: ["LodestorePostgres"]),
    .library(name: "LodestoreInspector", targets: ["LodestoreInspector"]),
    .executable(name: "kvdump", targets: ["kvdump"]),
    .executable(name: "kvdump-datasets", targets: ["kvdump-datasets"]),
    .executable(name: "kvdump-inspector", targets: ["kvdump-inspector"]),
  ],
  traits: [
    .default(enabledTraits: ["Complete"]),
    .trait(name: "Complete", description: "Macros, Web, Datasets, Inspector; on by default"),
    .trait(name: "Macros", description: "The @Entity macro; builds swift-syntax"),
    .trait(name: "Web", description: "LodestoreWeb on Linux; builds async-http-client and NIO"),
    .trait(
      name: "Datasets",
      description: "LodestoreDatasets; needs libzstd, builds swift-crypto on Linux"),
    .trait(name: "Inspector", description: "The pages of LodestoreInspector; builds FlyingSocks"),
    .trait(name: "Postgres", description: "LodestorePostgres; needs libpq, not part of Complete"),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/swiftlang/swift-syntax", "600.0.0"..<"604.0.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.100.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"),
    .package(url: "https://github.com/apple/swift-crypto", "3.12.3"..<"5.0.0"),
    .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.0"),
  ],
  targets: [
    .systemLibrary(
      name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    .target(name: "CChecksum"),
    // Loads libedit when a prompt opens, so that no build and no other command needs it.
    .target(
      name: "CLineEditor", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    // The platform's C library, so that no file asks which one it is; Foundation likewise.
    .target(name: "LodestoreSystem"),
    .target(name: "LodestoreEssentials"),
    // Bytes that are lent for a call, so that few files name a pointer.
    .target(name: "LodestoreBytes", dependencies: ["LodestoreSystem"]),
    .target(
      name: "LMDB",
      dependencies: ["CLMDB", "LodestoreBytes", "LodestorePages", "LodestoreSystem"],
      exclude: ["README.md", "Pages/README.md"]),
    .target(name: "LodestoreFormat", dependencies: ["CChecksum", "LodestoreBytes"]),
    .target(
      name: "LodestoreJSON",
      dependencies: ["LodestoreBytes", "LodestoreEssentials", "LodestoreSystem"]),
    .target(
      name: "EntityStore",
      dependencies: [
        "LMDB", "LodestoreBytes", "LodestoreEssentials", "LodestoreFormat", "LodestoreJSON",
        "LodestorePages", "LodestoreSystem",
      ],
      swiftSettings: hasBorrowedViews ? [] : [.enableExperimentalFeature("Lifetimes")]),
    .macro(
      name: "EntityMacros",
      dependencies: [
        .product(name: "SwiftSyntaxMacros", package: "swift-syntax", condition: withMacros),
        .product(
          name: "SwiftCompilerPlugin", package: "swift-syntax", condition: withMacros),
      ], swiftSettings: macroSettings),
    .target(
      name: "Lodestore",
      dependencies: [
        "EntityStore", .target(name: "EntityMacros", condition: withMacros),
      ], swiftSettings: macroSettings),
    // Without LMDB, so that files can be read where it is not, or is the other one.
    .target(
      name: "LodestorePages",
      dependencies: ["CChecksum", "LodestoreBytes", "LodestoreFormat", "LodestoreSystem"]),
    // Shares nothing with the entity layer, whose files it checks.
    .target(
      name: "LodestoreVerifier",
      dependencies: ["LMDB", "LodestoreBytes", "LodestoreFormat", "LodestorePages"]),
    // Apart, because Foundation as a whole makes a static program eight times larger.
    .target(name: "LodestoreFoundation", dependencies: ["EntityStore"]),
    // Apart, because it has the verifier, and only some programs check or export their stores.
    .target(
      name: "LodestoreMaintenance",
      dependencies: [
        "EntityStore", "LMDB", "LodestoreBytes", "LodestoreEssentials", "LodestoreFormat",
        "LodestoreJSON", "LodestorePages", "LodestoreSystem", "LodestoreVerifier",
      ]),
    // Apart, because only some programs save what is left of a damaged store.
    .target(
      name: "LodestoreRepair",
      dependencies: [
        "EntityStore", "LMDB", "LodestoreBytes", "LodestoreFormat", "LodestorePages",
        "LodestoreSystem", "LodestoreVerifier",
      ]),
    .systemLibrary(
      name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
    // Apart, so that the store needs no HTTP.
    .target(
      name: "LodestoreWeb",
      dependencies: [
        "EntityStore", "LodestoreSystem", .target(name: "CZlib", condition: onLinux),
        .product(name: "AsyncHTTPClient", package: "async-http-client", condition: onLinux),
        .product(name: "NIOCore", package: "swift-nio", condition: onLinux),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: onLinux),
        .product(name: "NIOPosix", package: "swift-nio", condition: onLinux),
        .product(name: "NIOSSL", package: "swift-nio-ssl", condition: onLinux),
      ], exclude: ["README.md"], swiftSettings: webSettings),
    .systemLibrary(
      name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),
    // Apart, because only some programs carry datasets, and for its libraries.
    .target(
      name: "LodestoreDatasets",
      dependencies: [
        "EntityStore", "LMDB", "LodestoreBytes", "LodestoreFormat", "LodestoreJSON",
        "LodestorePages", "LodestoreSystem", "LodestoreVerifier", "LodestoreWeb",
        .target(name: "CZstd", condition: forDatasets),
        .product(name: "Crypto", package: "swift-crypto", condition: forDatasetsOnLinux),
      ], swiftSettings: webSettings + datasetSettings),
    // Apart, because only some programs share a store between machines.
    .target(
      name: "LodestoreReplicas",
      dependencies: [
        "EntityStore", "LMDB", "LodestoreBytes", "LodestoreDatasets", "LodestoreEssentials",
        "LodestoreFormat", "LodestoreJSON", "LodestorePages", "LodestoreSystem", "LodestoreWeb",
      ], exclude: ["README.md"], swiftSettings: webSettings + datasetSettings),
    .systemLibrary(
      name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    // Apart, because only some programs have a PostgreSQL server, and for its library.
    .target(
      name: "LodestorePostgres",
      dependencies: [
        "EntityStore", "LMDB", "LodestoreBytes", "LodestoreEssentials", "LodestoreFormat",
        "LodestoreJSON", "LodestoreSystem", .target(name: "CPostgres", condition: forPostgres),
      ], exclude: ["README.md"], swiftSettings: postgresSettings),
    // Values of records as text and as pictures, for kvdump and the inspector.
    .target(
      name: "LodestoreRows",
      dependencies: [
        "EntityStore", "LodestoreBytes", "LodestoreEssentials", "LodestoreFormat", "LodestoreJSON",
      ]),
    // Apart, because only some programs show their stores, and for its server.
    .target(
      name: "LodestoreInspector",
      dependencies: [
        "EntityStore", "LodestoreBytes", "LodestoreEssentials", "LodestoreFormat", "LodestoreJSON",
        "LodestoreRows", "LodestoreSystem",
        .product(name: "FlyingSocks", package: "FlyingFox", condition: forInspector),
      ], exclude: ["README.md"], swiftSettings: inspectorSettings),
    // Apart from its program, because a test of a package with macros cannot import an executable.
    .target(
      name: "KVDumpCommands",
      dependencies: [
        "CLineEditor", "EntityStore", "LMDB", "LodestoreBytes", "LodestoreFormat",
        "LodestorePages", "LodestoreRepair", "LodestoreRows", "LodestoreSystem",
        "LodestoreVerifier",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "tools/kvdump", exclude: ["Main"]),
    .executableTarget(
      name: "kvdump", dependencies: ["KVDumpCommands"], path: "tools/kvdump/Main"),
    .target(
      name: "KVDumpDatasetCommands",
      dependencies: [
        "EntityStore", "KVDumpCommands", "LodestoreDatasets", "LodestoreJSON", "LodestoreReplicas",
        "LodestoreSystem", "LodestoreWeb",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "tools/kvdump-datasets", exclude: ["Main"]),
    .executableTarget(
      name: "kvdump-datasets", dependencies: ["KVDumpDatasetCommands"],
      path: "tools/kvdump-datasets/Main"),
    .target(
      name: "KVDumpInspectorCommands",
      dependencies: [
        "EntityStore", "KVDumpCommands", "LodestoreInspector", "LodestoreSystem",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "tools/kvdump-inspector", exclude: ["Main"], swiftSettings: inspectorSettings),
    .executableTarget(
      name: "kvdump-inspector", dependencies: ["KVDumpInspectorCommands"],
      path: "tools/kvdump-inspector/Main"),
    .executableTarget(
      name: "quickstart-example", dependencies: ["EntityStore"],
      path: "tools/quickstart-example"),
    // What the tests of faults start as processes of their own.
    .executableTarget(
      name: "fault-session", dependencies: ["EntityStore", "LMDB", "LodestoreVerifier"],
      path: "Tests/Faults/Session"),
    // A web server on the loopback interface that answers as a test says.
    .target(name: "LoopbackWeb", path: "Tests/LoopbackWeb"),
    // What the tests of datasets start as processes of their own.
    .executableTarget(
      name: "dataset-session", dependencies: ["EntityStore", "LodestoreDatasets"],
      path: "Tests/DatasetSession"),
    // What the tests of replicas start as processes of their own.
    .executableTarget(
      name: "replica-session", dependencies: ["EntityStore", "LodestoreReplicas"],
      path: "Tests/ReplicaSession"),
    // What the tests of PostgreSQL start as processes of their own.
    .executableTarget(
      name: "postgres-session", dependencies: ["EntityStore", "LodestorePostgres"],
      path: "Tests/PostgresSession", swiftSettings: postgresSettings),
    // The program that the tests of expansions start. It is a macro, with the plug-in's sources by
    // a symbolic link, so that swift-syntax is built for the compiler's machine alone. The client
    // stands between: SwiftPM builds all tests a second time where one of them depends on a macro
    // itself.
    .macro(
      name: "ExpansionProgram",
      dependencies: [
        .product(
          name: "SwiftSyntaxMacrosGenericTestSupport", package: "swift-syntax",
          condition: withMacros)
      ], path: "Tests/Expansion/Program", swiftSettings: macroSettings),
    .target(
      name: "ExpansionClient", dependencies: ["ExpansionProgram"], path: "Tests/Expansion/Client"),
    .testTarget(name: "FaultTests", path: "Tests/Faults/Tests"),
    .testTarget(
      name: "LMDBTests", dependencies: ["LMDB", "LodestoreBytes", "LodestoreSystem"]),
    .testTarget(
      name: "LodestoreFormatTests", dependencies: ["LodestoreBytes", "LodestoreFormat"]),
    .testTarget(name: "LodestoreJSONTests", dependencies: ["LodestoreJSON"]),
    .testTarget(
      name: "EntityStoreTests",
      dependencies: [
        "EntityStore", "KVDumpCommands", "LMDB", "LodestoreBytes", "LodestoreFormat",
        "LodestoreFoundation", "LodestoreMaintenance", "LodestorePages", "LodestoreSystem",
        "LodestoreVerifier",
      ], exclude: ["Corpus/Files", "Surface/PublicDeclarations.txt"],
      swiftSettings: macroSettings),
    .testTarget(
      name: "LodestoreWebTests",
      dependencies: ["EntityStore", "LodestoreSystem", "LodestoreWeb", "LoopbackWeb"]),
    .testTarget(
      name: "LodestoreDatasetsTests",
      dependencies: [
        "EntityStore", "KVDumpDatasetCommands", "LMDB", "LodestoreBytes", "LodestoreDatasets",
        "LodestoreFormat", "LodestoreJSON", "LodestorePages", "LodestoreVerifier", "LodestoreWeb",
        "LoopbackWeb",
      ], swiftSettings: webSettings + datasetSettings),
    .testTarget(
      name: "LodestoreReplicasTests",
      dependencies: [
        "EntityStore", "KVDumpCommands", "KVDumpDatasetCommands", "LMDB", "LodestoreBytes",
        "LodestoreDatasets", "LodestoreFormat", "LodestoreReplicas", "LodestoreSystem",
        "LodestoreVerifier", "LodestoreWeb", "LoopbackWeb",
      ],
      exclude: [
        "Model", "Simulation/planted.txt", "Simulation/simulate", "Simulation/Stores/planted.txt",
        "Simulation/Stores/simulate",
      ],
      swiftSettings: webSettings + datasetSettings),
    .testTarget(
      name: "LodestoreInspectorTests",
      dependencies: [
        "EntityStore", "KVDumpCommands", "KVDumpInspectorCommands", "LodestoreEssentials",
        "LodestoreInspector", "LodestoreJSON", "LodestoreRows", "LodestoreSystem",
      ], swiftSettings: inspectorSettings),
    .testTarget(
      name: "LodestorePostgresTests",
      dependencies: [
        "EntityStore", "LodestoreBytes", "LodestoreFormat", "LodestorePostgres",
        "LodestoreReplicas",
      ], swiftSettings: datasetSettings + postgresSettings),
    .testTarget(
      name: "KVDumpTests",
      dependencies: [
        "KVDumpCommands", "EntityStore", "LMDB", "LodestoreBytes", "LodestoreFormat",
        "LodestorePages", "LodestoreRepair", "LodestoreSystem", "LodestoreVerifier",
      ]),
    .testTarget(
      name: "LodestoreTests",
      dependencies: [
        "Lodestore", "EntityStore", "LodestoreBytes", "LodestoreFormat", "LodestoreFoundation",
        "LodestoreMaintenance", "LodestoreWeb",
        "ExpansionClient",
      ], swiftSettings: macroSettings + webSettings),
  ],
  swiftLanguageModes: [.v6]
)

if hasFuzzing {
  package.targets.append(
    .executableTarget(
      name: "lodestore-fuzz",
      dependencies: [
        "EntityStore", "LMDB", "LodestoreBytes", "LodestoreFormat", "LodestoreJSON",
        "LodestorePages", "LodestoreVerifier",
      ], path: "Tests/Fuzzing", exclude: ["Corpus"]))
}
