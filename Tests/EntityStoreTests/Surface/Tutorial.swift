import Foundation

/// The tutorial of the manual, as a reader goes through it.
struct Tutorial {
  /// The content of a step.
  enum Step {
    /// A manifest, which replaces the previous manifest.
    case manifest(URL)
    /// A program, which replaces the previous program.
    case program(URL)
    /// Typed commands and their output.
    case terminal(URL)
  }

  /// A typed line and its output.
  struct Command {
    var arguments: [String]
    var output: String
  }

  /// The steps of all tutorials in their order.
  let steps: [Step]
  /// The files of code that the catalogue has, and that no step shows.
  let unused: Set<String>

  /// Reads the tutorials that a table of contents lists, from its folder.
  init(contents: URL) throws {
    let folder = contents.deletingLastPathComponent()
    let resources = folder.appending(path: "Resources")
    let names = try Self.text(contents).matches(of: /tutorial: "doc:(\w+)"/).map { String($0.1) }
    let codes = try names.flatMap { name in
      try Self.text(folder.appending(path: "\(name).tutorial"))
        .matches(of: /@Code\(name: "([^"]+)", file: ([^,)]+)/)
        .map { (name: String($0.1), file: String($0.2)) }
    }
    steps = codes.map { code in
      let url = resources.appending(path: code.file)
      return switch code.name {
      case "Package.swift": .manifest(url)
      case "Terminal": .terminal(url)
      default: .program(url)
      }
    }
    let files = try FileManager.default.contentsOfDirectory(atPath: resources.path)
    unused = Set(files.filter { !$0.hasSuffix(".svg") }).subtracting(codes.map(\.file))
  }

  /// The commands in a terminal file: the arguments after `$ swift run filmlist`, and the output
  /// lines up to the next command.
  static func commands(in file: URL) throws -> [Command] {
    try text(file).components(separatedBy: "$ swift run filmlist").dropFirst().map { part in
      let lines = part.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
      return Command(
        arguments: lines[0].split(separator: " ").map(String.init),
        output: lines.count > 1 ? String(lines[1]) : "")
    }
  }

  private static func text(_ file: URL) throws -> String {
    try String(contentsOf: file, encoding: .utf8)
  }
}
