import Foundation

/// Runs a program with the arguments of the process.
///
/// If `body` throws an error, the program prints its name and the error, and exits with status 1.
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
