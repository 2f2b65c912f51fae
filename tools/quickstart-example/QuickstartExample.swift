import EntityStore
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Imports pages of web services into stores, and deletes records by a condition.
///
/// `tools/quickstart` runs it. Reading order: `Film.swift`, `Importing.swift`, `Deleting.swift`.
@main
struct QuickstartExample {
  static let usage = """
    usage: quickstart-example import STORE films|pods|resources|fireballs FILE...
           quickstart-example delete STORE films EPISODE...
           quickstart-example delete STORE pods LICENSE
           quickstart-example delete STORE fireballs YEAR
    """

  static func main() async {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard arguments.count > 3 else { fail(usage, status: 64) }
    let path = arguments[1]
    let rest = Array(arguments[3...])
    do {
      switch (arguments[0], arguments[2]) {
      case ("import", "films"): try await importFilms(from: rest, into: path)
      case ("import", "pods"): try await importPods(from: rest, into: path)
      case ("import", "resources"): try await importResources(from: rest, into: path)
      case ("import", "fireballs"): try await importFireballs(from: rest, into: path)
      case ("delete", "films"): try deleteFilms(episodes: try rest.map(number), from: path)
      case ("delete", "pods"): try deletePods(license: rest[0], from: path)
      case ("delete", "fireballs"): try deleteFireballs(before: try number(rest[0]), from: path)
      default: fail(usage, status: 64)
      }
    } catch {
      fail("quickstart-example: \(error)", status: 1)
    }
  }

  private static func number(_ text: String) throws -> Int {
    guard let number = Int(text) else { throw BadRecord("'\(text)' is not a number") }
    return number
  }

  private static func fail(_ message: String, status: Int32) -> Never {
    var line = message + "\n"
    line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    exit(status)
  }
}
