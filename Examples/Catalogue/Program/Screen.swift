import Catalogue
import LodestoreDatasets
import Terminal

/// The output of the program.
struct Screen {
  let catalogue: Catalogue
  let terminal = Terminal.standardOutput

  func show(_ words: [String]) async throws {
    switch (words.first, words.count) {
    case ("refresh", 1): try await refresh()
    case ("favourites", 1): try favourites()
    case ("mark", 4): try mark(words[1], words[2], note: words[3])
    case (_, 0...1): try specs(with: words.first ?? "")
    default: terminal.print(Main.usage)
    }
  }

  private func specs(with word: String) throws {
    let found = try catalogue.specs(with: word)
    var table = Table(["name", "version", "licence", "summary"])
    for spec in found.prefix(20) {
      table.add(spec.name, spec.version, spec.license ?? "", spec.summary)
    }
    for line in table.lines { terminal.print(line) }
    let age = try catalogue.dataset.current().age
    terminal.print(terminal.styled("\(found.count.grouped) podspecs; \(age)", .dim))
  }

  private func refresh() async throws {
    let report = try await catalogue.dataset.refresh(now: true)
    let count = try catalogue.specs(with: "").count
    terminal.print(
      "\(report.outcome.rawValue): generation \(report.generation), \(count.grouped) podspecs")
  }

  private func mark(_ name: String, _ version: String, note: String) throws {
    let isMarked = try catalogue.mark(name, version, note: note)
    terminal.print(
      isMarked ? "marked \(name) \(version)" : "the catalogue has no \(name) \(version)")
  }

  private func favourites() throws {
    for (favourite, spec) in try catalogue.favourites() {
      let words = spec.map { "\($0.name) \($0.version): \($0.summary)" }
      terminal.print("\(words ?? "no longer in the catalogue")  \(favourite.note)")
    }
  }
}
