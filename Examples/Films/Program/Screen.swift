import Films
import Foundation
import Lodestore
import Terminal

/// The output of the program.
struct Screen {
  let library: FilmLibrary
  let terminal = Terminal.standardOutput

  func tour(of service: URL, episode: Int) async throws {
    terminal.heading("Films by episode, while six entities come in the background")
    var steps: [FilmLibrary.Step] = []
    try await watching { try await library.synchronize(with: service) { steps.append($0) } }
    show(steps)

    terminal.heading("The first trilogy is deleted in one batch, and comes back")
    try await watching {
      _ = try await library.delete(episodes: [4, 5, 6])
      if terminal.isInteractive { try await Task.sleep(for: .seconds(1)) }
      try await library.synchronize(with: service)
    }

    guard let detail = try await library.detail(episode: episode) else {
      return terminal.print("There is no episode \(episode).")
    }
    show(detail)
  }

  /// Shows the list and its changes while `work` runs, and the final state of the list after the
  /// work.
  private func watching(_ work: () async throws -> Void) async throws {
    let list = LiveList(on: terminal)
    list.show(try await library.store.fetch(FilmLibrary.films).map(line))
    let watch = Task {
      for try await update in library.store.updates(of: FilmLibrary.films) {
        list.show(update.items.map(line))
      }
    }
    defer { watch.cancel() }
    try await work()
    watch.cancel()
    _ = await watch.result
    list.show(try await library.store.fetch(FilmLibrary.films).map(line))
    list.finish()
  }

  private func line(_ film: Film) -> String {
    let day = film.releaseDate.formatted(.iso8601.year().month().day())
    return "\(film.episodeId)  \(terminal.styled(day, .dim))  "
      + "\(terminal.styled(film.title.padded(to: 24), .bold))  \(film.director)"
  }

  private func show(_ steps: [FilmLibrary.Step]) {
    terminal.print()
    var table = Table(
      ["entity", "inserted", "updated", "unchanged"], [.left, .right, .right, .right])
    for step in steps {
      table.add(
        step.name, step.report.inserted.grouped, step.report.updated.grouped,
        step.report.unchanged.grouped)
    }
    table.show(on: terminal)
  }

  private func show(_ detail: FilmDetail) {
    terminal.heading("Episode \(detail.film.episodeId): \(detail.film.title)")
    var people = Table(["who", "born", "from"])
    for (person, homeworld) in detail.characters {
      people.add(person.name, person.birthYear, homeworld?.name ?? "")
    }
    people.show(on: terminal)
    terminal.print()
    show("Planets", detail.planets.map(\.name))
    show("Species", detail.species.map(\.name))
    show(
      "Starships",
      detail.starships.map { ship, pilots in
        pilots.isEmpty
          ? ship.name : "\(ship.name) (\(pilots.map(\.name).joined(separator: ", ")))"
      })
    show("Vehicles", detail.vehicles.map(\.name))
  }

  private func show(_ title: String, _ names: [String]) {
    terminal.print("\(terminal.styled(title, .dim)): \(names.joined(separator: "; "))")
  }
}
