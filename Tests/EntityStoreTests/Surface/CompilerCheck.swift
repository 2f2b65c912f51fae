import Foundation
import Synchronization

/// Type checks programs with the modules that the tests were built with.
struct CompilerCheck {
  /// The first error, and the processor time of the compiler.
  struct Result {
    var line: Int?
    var message: String?
    var seconds: Double
    /// The whole output of the compiler.
    var output: String
  }

  let modules: URL
  private let root = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../..").standardized

  /// The check for this process; `nil` if the modules or the compiler are not found.
  ///
  /// The compiler is searched for once, because its start takes as long as a type check.
  static let shared = CompilerCheck()

  private init?() {
    let bundles = CommandLine.arguments.filter { $0.hasSuffix(".xctest") }
    let folders = (bundles + CommandLine.arguments.prefix(1)).map {
      URL(filePath: $0).deletingLastPathComponent()
    }
    let found = folders.first {
      FileManager.default.fileExists(atPath: $0.appending(path: "Modules").path)
    }
    guard let found, (try? Self.run(["swiftc", "--version"]))?.status == 0 else { return nil }
    modules = found
  }

  /// Whether the macros were built, so that programs with `@Entity` can be checked.
  var hasMacros: Bool { FileManager.default.fileExists(atPath: macros.path) }

  private var macros: URL { modules.appending(path: "EntityMacros-tool") }

  /// Type checks a whole program, which may import every product.
  func check(program source: String) throws -> Result {
    try check(source, importing: false, with: programArguments)
  }

  /// The arguments that let a program import every product and use the macros.
  private var programArguments: [String] {
    dependencyArguments
      + ["-Xfrontend", "-load-plugin-executable", "-Xfrontend", macros.path + "#EntityMacros"]
  }

  /// All arguments of `swiftc` about a program's modules.
  var compilerArguments: [String] { Self.language + moduleArguments + programArguments }

  private static let language = ["-swift-version", "6", "-parse-as-library"]

  /// Type checks `source`, which follows the two imports, together with the entity `Film`.
  func check(
    _ source: String, importing: Bool = true, with arguments: [String] = []
  ) throws -> Result {
    try check([source], importing: importing, with: arguments)[0]
  }

  /// Type checks several sources as the files of one module, in one run of the compiler.
  ///
  /// Declarations of the same name must be private. Each result has the output about its source,
  /// and the processor time of the whole run.
  func check(
    _ sources: [String], importing: Bool = true, with arguments: [String] = []
  ) throws -> [Result] {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "lodestore-mistake-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var files = try sources.indices.map { number in
      let file = folder.appending(path: "program\(number).swift")
      let imports = importing ? "import EntityStore\nimport Foundation\n" : "\n\n"
      try (imports + sources[number] + "\n").write(to: file, atomically: true, encoding: .utf8)
      return file.path
    }
    if importing {
      let film = folder.appending(path: "film.swift")
      try CheckedFilm.source.write(to: film, atomically: true, encoding: .utf8)
      files.append(film.path)
    }
    let (_, output) = try Self.run(
      ["bash", "-c", "TIMEFORMAT='cpu %U'; time \"$@\"", "bash"]
        + ["swiftc", "-typecheck", "-wmo", "-module-name", "Program"] + Self.language
        + moduleArguments + arguments + files)
    let seconds = output.firstMatch(of: /(?m)^cpu ([0-9.]+)$/).flatMap { Double($0.1) }
    var results = sources.map { _ in Result(seconds: seconds ?? .infinity, output: "") }
    // The number of the source that the last diagnostic is about.
    var number: Int?
    for line in output.split(separator: "\n") {
      if let place = line.wholeMatch(of: /\/.*\/(\w+)\.swift:(\d+):\d+: (\w+): (.*)/) {
        number = place.1.hasPrefix("program") ? Int(place.1.dropFirst("program".count)) : nil
        if let number, place.3 == "error", results[number].line == nil {
          results[number].line = Int(place.2).map { $0 - 2 }
          results[number].message = String(place.4)
        }
      }
      // Lines without a place belong to every source.
      for index in results.indices where number ?? index == index {
        results[index].output += "\(line)\n"
      }
    }
    return results
  }

  private static let graphs = Mutex<[String: [Data]]>([:])

  /// The symbol graphs of a module, as the documentation has them.
  func symbolGraphs(of module: String) throws -> [Data] {
    try Self.graphs.withLock { graphs in
      let found = try graphs[module] ?? extractedGraphs(of: module)
      graphs[module] = found
      return found
    }
  }

  private func extractedGraphs(of module: String) throws -> [Data] {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "lodestore-symbols-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (status, output) = try Self.run(
      ["swift", "symbolgraph-extract", "-module-name", module, "-target", Self.target]
        + ["-minimum-access-level", "public", "-skip-synthesized-members"]
        + ["-output-dir", folder.path] + moduleArguments + dependencyArguments)
    guard status == 0 else { throw Failure(output: output) }
    return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .sorted { $0.path < $1.path }.map { try Data(contentsOf: $0) }
  }

  struct Failure: Error { var output: String }

  private static var target: String {
    #if arch(arm64)
      let machine = "aarch64"
    #else
      let machine = "x86_64"
    #endif
    #if os(macOS)
      return "\(machine == "aarch64" ? "arm64" : machine)-apple-macosx15.0"
    #else
      return "\(machine)-unknown-linux-gnu"
    #endif
  }

  private var moduleArguments: [String] {
    ["-I", modules.appending(path: "Modules").path]
      + clang("Sources/CLMDB/module.modulemap", in: root)
      + clang("CChecksum.build/module.modulemap", in: modules)
      + ["-Xcc", "-I", "-Xcc", root.appending(path: "Sources/CChecksum/include").path]
  }

  /// Compiler arguments for modules that import packages with C modules, such as LodestoreWeb.
  private var dependencyArguments: [String] {
    let checkouts = modules.appending(path: "../../checkouts")
    let packages = Self.contents(of: checkouts)
    // FlyingFox has its targets at the top of the package.
    let sources = packages.flatMap {
      Self.contents(of: $0.appending(path: "Sources")) + Self.contents(of: $0)
    }
    let maps =
      Self.contents(of: modules).filter { $0.pathExtension == "build" }
      .filter {
        !$0.lastPathComponent.hasSuffix("-tool.build") && $0.lastPathComponent != "CChecksum.build"
      }
      .map { $0.appending(path: "module.modulemap") }
      + sources.map { $0.appending(path: "include/module.modulemap") }
      + ["CZlib", "CZstd", "CPostgres"].map {
        root.appending(path: "Sources/\($0)/module.modulemap")
      }
    let headers = [
      "/usr/include/postgresql", "/opt/homebrew/opt/libpq/include", "/usr/local/opt/libpq/include",
    ]
    func isPresent(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
    return maps.map(\.path).filter(isPresent).flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
      + headers.filter(isPresent).flatMap { ["-Xcc", "-I\($0)"] }
  }

  private static func contents(of folder: URL) -> [URL] {
    let found = try? FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    return (found ?? []).sorted { $0.path < $1.path }
  }

  private func clang(_ path: String, in folder: URL) -> [String] {
    ["-Xcc", "-fmodule-map-file=\(folder.appending(path: path).path)"]
  }

  static func run(_ command: [String]) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = command
    let pipe = Pipe()
    process.standardError = pipe
    process.standardOutput = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: output, as: UTF8.self))
  }
}
