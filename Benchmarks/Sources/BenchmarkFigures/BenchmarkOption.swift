import Foundation

/// An option of the form `--name=value`.
package struct BenchmarkOption {
  package let name: String
  package let value: String
  /// The error that shows the option and the usage.
  package let refusal: BenchmarkError

  /// Reads the options of a benchmark, whose own name among them has no value.
  ///
  /// - Throws: ``BenchmarkError`` for an argument of another form.
  package static func all(
    in arguments: [String], of benchmark: String, usage: String
  ) throws -> [BenchmarkOption] {
    try arguments.filter { $0 != benchmark }.map { argument in
      let refusal = BenchmarkError("'\(argument)' is not known\n\(usage)")
      let words = argument.split(separator: "=", maxSplits: 1).map(String.init)
      guard words.count == 2 else { throw refusal }
      return BenchmarkOption(name: words[0], value: words[1], refusal: refusal)
    }
  }

  /// The value as a number above 0.
  package func number() throws -> Int {
    guard let number = Int(value), number > 0 else { throw refusal }
    return number
  }

  /// The value as names of parts with commas between them.
  package func parts<Part: RawRepresentable<String> & Hashable>() throws -> Set<Part> {
    try Set(
      value.split(separator: ",").map { name in
        guard let part = Part(rawValue: String(name)) else { throw refusal }
        return part
      })
  }
}

/// Runs a benchmark on the arguments of the program, with a folder that is removed afterwards.
///
/// `--help` prints the usage instead. An error ends the program with its message.
package func runBenchmark(
  usage: ([String]) -> String, _ body: (_ arguments: [String], _ folder: String) throws -> Void
) {
  do {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard !arguments.contains("--help") else { return print(usage(arguments)) }
    let name = "bench-\(ProcessInfo.processInfo.processIdentifier)"
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try body(arguments, folder)
  } catch {
    FileHandle.standardError.write(Data("bench: \(error)\n".utf8))
    exit(1)
  }
}
