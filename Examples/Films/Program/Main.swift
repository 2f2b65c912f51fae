import Films
import Foundation
import Service
import Terminal

/// `films`: see ``usage``.
@main
enum Main {
  static let usage = """
    films                  shows the films as they come from a service, and one of them in full
    options: --url URL     of the service; by default one is started in this process
             --store FILE  where the films are kept; by default in memory
             --episode N   which film is shown in full (4)
    """

  static func main() async { await runProgram("films", run) }

  private static func run(_ arguments: Arguments) async throws {
    guard arguments.words.isEmpty else { return print(usage) }
    let screen = Screen(
      library: try arguments.options["store"].map { try FilmLibrary(at: $0) } ?? FilmLibrary())
    let episode = arguments.number("episode") ?? 4
    if let url = arguments.options["url"].flatMap({ URL(string: $0) }) {
      return try await screen.tour(of: url, episode: episode)
    }
    // The answers are slow enough for a person to see each change of the list.
    let service = try await Service.start(try .standard(), faults: Faults(delay: .milliseconds(40)))
    try await screen.tour(of: service.url, episode: episode)
    await service.stop()
  }
}
