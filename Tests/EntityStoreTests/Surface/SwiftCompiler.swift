// Whole Foundation: `Process` is not in FoundationEssentials.
import Foundation

/// The compiler of the search path, which checks programs against the modules beside the tests.
struct SwiftCompiler: Sendable {
  /// `nil` where there is no compiler, or no modules beside the tests.
  static let found = SwiftCompiler()

  private let path: String
  private let options: [String]

  private init?() {
    let folders = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let compilers = folders.split(separator: ":").map { "\($0)/swiftc" }
    guard let path = compilers.first(where: FileManager.default.isExecutableFile),
      let bundle = CommandLine.arguments.first(where: { $0.contains(".xctest") }),
      let built = Self.folder(of: bundle), let suffix = Self.suffix(in: built)
    else { return nil }
    self.path = path
    let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../..").standardizedFileURL.path
    options = [
      "-typecheck", "-swift-version", "6", "-parse-as-library", "-diagnostic-style", "llvm",
      "-module-name", "Program", "-I", "\(built)/Modules\(suffix)",
      "-Xcc", "-fmodule-map-file=\(package)/Sources/CLMDB/module.modulemap",
      "-Xcc", "-fmodule-map-file=\(built)/CChecksum\(suffix).build/module.modulemap",
      "-Xcc", "-I\(package)/Sources/CChecksum/include",
    ]
  }

  /// The folder that the bundle of the tests is in.
  private static func folder(of bundle: String) -> String? {
    var folder = URL(fileURLWithPath: bundle)
    while folder.path.contains(".xctest") { folder.deleteLastPathComponent() }
    return folder.path
  }

  /// What the names of the newest modules end in: a package with macros builds its tests as tools.
  private static func suffix(in built: String) -> String? {
    let made = ["-tool", ""].compactMap { suffix -> (suffix: String, date: Date)? in
      let module = "\(built)/Modules\(suffix)/EntityStore.swiftmodule"
      let facts = try? FileManager.default.attributesOfItem(atPath: module)
      return (facts?[.modificationDate] as? Date).map { (suffix, $0) }
    }
    return made.max { $0.date < $1.date }?.suffix
  }

  /// What the compiler says of a program, and how long it takes.
  struct Answer {
    /// The lines of errors, with their position in the last file.
    var errors: [(line: Int, text: String)] = []
    var output = ""
    var seconds = 0.0
  }

  /// Checks a program of one file, `source`, behind `entity`.
  func check(
    _ source: String, entity: String? = nil, with options: [String] = []
  ) throws -> Answer {
    let folder = try TemporaryFolder()
    let file = folder.path + "/Program.swift"
    try Data(source.utf8).write(to: URL(fileURLWithPath: file))
    var files = [file]
    if let entity {
      files.insert(folder.path + "/Film.swift", at: 0)
      try Data(entity.utf8).write(to: URL(fileURLWithPath: files[0]))
    }
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = self.options + options + files
    process.standardOutput = pipe
    process.standardError = pipe
    let clock = ContinuousClock()
    let start = clock.now
    try process.run()
    let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    var answer = Answer(output: output)
    answer.seconds = (clock.now - start) / .seconds(1)
    for line in output.split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 4)
      guard parts.count == 5, parts[3] == " error", let number = Int(parts[1]) else { continue }
      // One in another file is at no line of the program.
      answer.errors.append((parts[0] == file ? number : 0, String(parts[4])))
    }
    return answer
  }

  /// The answer of the quickest of some runs: other work on the machine makes a run slow, never quick.
  func check(
    _ source: String, entity: String? = nil, atMost seconds: Double
  ) throws -> Answer {
    var quickest = try check(source, entity: entity)
    for _ in 0..<4 where quickest.seconds > seconds {
      let other = try check(source, entity: entity)
      if other.seconds < quickest.seconds { quickest = other }
    }
    return quickest
  }
}
