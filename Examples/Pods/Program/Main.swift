import Foundation
import Pods
import Service
import Terminal

/// `pods`: see ``usage``.
@main
enum Main {
  static let usage = """
    pods                   brings the podspecs into a store, with their list on the screen
    pods search WORDS...   what has these words in its name, its summary or among its authors
    pods search            the same while you type; for each line where standard input is a file
    pods show NAME         the newest version of a library, and what it needs
    options: --store FILE  where they are kept (pods.lodestore)
             --url URL     of the service; by default one is started in this process
             --port N      where that one listens (47811)
             --delay MS    how long it takes to answer (40)
    """

  static func main() async { await runProgram("pods", run) }

  private static func run(_ arguments: Arguments) async throws {
    let words = arguments.words.dropFirst()
    let command = arguments.words.first ?? "load"
    guard ["load", "search", "show"].contains(command) else { return print(usage) }
    let screen = Screen(
      library: try PodLibrary(at: arguments.options["store"] ?? "pods.lodestore"))
    switch command {
    case "search" where words.isEmpty: try await screen.search()
    case "search": try await screen.search(words.joined(separator: " "))
    case "show": try await screen.show(words.joined(separator: " "))
    default: try await load(arguments, on: screen)
    }
  }

  private static func load(_ arguments: Arguments, on screen: Screen) async throws {
    if let url = arguments.options["url"].flatMap({ URL(string: $0) }) {
      return try await screen.load(from: url)
    }
    // An interrupted import continues at the stored address of its next page, so the port must stay
    // the same.
    let service = try await Service.start(
      try .standard(), port: UInt16(clamping: arguments.number("port") ?? 47_811),
      faults: Faults(delay: .milliseconds(arguments.number("delay") ?? 40)))
    try await screen.load(from: service.url)
    await service.stop()
  }
}
