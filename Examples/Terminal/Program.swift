import Foundation

/// Runs a program with the arguments of the process.
///
/// A failure is printed after the program's name, and ends the process with status 1.
public func runProgram(
  _ name: String, _ body: (Arguments) async throws -> Void
) async {
  do {
    try await body(Arguments(CommandLine.arguments.dropFirst()))
  } catch {
    FileHandle.standardError.write(Data("\(name): \(error)\n".utf8))
    exit(1)
  }
}
