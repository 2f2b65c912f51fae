import Foundation
import Testing

@testable import EntityStore

/// Files that programs have written are never refused, and the verifier finds no fault in them,
/// whatever the programs did.
@Suite struct `Legal files` {
  /// The variable `LODESTORE_LEGAL_FILES` sets the number of files.
  @Test func `legal files of all histories are accepted, also while they are in use`() throws {
    let count = SeededNumbers.environmentNumber("LODESTORE_LEGAL_FILES") ?? 20
    var numbers = SeededNumbers(salt: 7_700)
    for number in 0..<count {
      let folder = try TemporaryFolder()
      do {
        try LegalHistory(folder.storePath, SeededNumbers(seed: numbers.next())).run()
      } catch {
        Issue.record("file \(number): \(error); \(SeededNumbers.replay)")
      }
    }
  }
}

/// A store with a random life of writes, reopenings and copies.
private final class LegalHistory {
  private static let entities: [any Entity.Type] = Library.entities + [Clause.self, Player.self]

  private let path: String
  private var numbers: SeededNumbers
  private var store: Store
  /// Snapshots that prevent the reuse of old commits' pages.
  private var snapshots: [PinnedSnapshot] = []
  private var nameCount = 0

  init(_ path: String, _ numbers: SeededNumbers) throws {
    self.path = path
    self.numbers = numbers
    store = try Store(at: path, entities: Self.entities)
  }

  func run() throws {
    for _ in 0..<(4 + numbers.below(24)) {
      try step()
      if numbers.oneIn(6) { try checkCopy() }
    }
    snapshots = []
    store.close()
    try check(path)
  }

  private func step() throws {
    switch numbers.below(13) {
    case 0, 1:
      _ = try store.insert((0..<numbers.below(400)).map { _ in player() })
    case 2:
      // The texts have various lengths that need overflow pages.
      let length = [2_000, 4_060, 4_080, 9_000, 70_000][numbers.below(5)] + numbers.below(100)
      _ = try store.insert(Clause(name: name(), text: String(repeating: "x", count: length)))
    case 3:
      let note = name()
      try store.update(Player.where { $0.score < 40 }) { $0.note = note }
    case 4:
      let limit = numbers.below(100)
      try store.delete(Player.where { $0.score > limit })
    case 5: try store.delete(numbers.oneIn(2) ? Player.all : Player.where { $0.score == 1 })
    case 6: try addBooks()
    case 7: try store.purgeHistory(before: .now)
    case 8:
      // The first write is undone as a whole, and the second one in part.
      try? store.write { tx in
        _ = try tx.insert((0..<200).map { _ in player() })
        throw CancellationError()
      }
      try store.write { tx in
        _ = try tx.insert(player())
        _ = try? tx.insert([Clause(name: "twice"), Clause(name: "twice")])
      }
    case 9: snapshots.append(try store.snapshot())
    case 10: snapshots.removeAll()
    case 11: try store.delete(Clause.where { $0.text.contains("x") })
    default: try reopen()
    }
  }

  private func name() -> String {
    nameCount += 1
    return String(repeating: "n", count: numbers.below(30)) + "\(nameCount)"
  }

  private func player() -> Player {
    Player(
      name: name(), score: numbers.below(100),
      note: numbers.oneIn(3) ? nil : String(repeating: "é", count: numbers.below(200)))
  }

  private func addBooks() throws {
    try store.write { tx in
      let shelf = try tx.insert(Shelf(name: name())).id
      let author = try tx.insert(Author(name: name())).id
      let books = try tx.insert(
        (0..<(1 + numbers.below(60))).map { Book(title: "b\($0)", author: author) })
      try tx.add(Array(books.ids), to: Shelf.books, of: shelf)
      if numbers.oneIn(3) { try tx.delete(shelf) }
    }
  }

  private func reopen() throws {
    snapshots = []
    store.close()
    if numbers.oneIn(3) { try? FileManager.default.removeItem(atPath: path + "-lock") }
    var options = StoreOptions()
    options.durability = numbers.oneIn(2) ? .full : .mayLoseLastCommit
    options.trust = numbers.oneIn(2) ? .verifyFirst : .checkHeader
    store = try Store(at: path, entities: Self.entities, options: options)
  }

  /// The file between two commits, as a backup by a file system's snapshot has it.
  private func checkCopy() throws {
    let copy = path + ".copy"
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    try check(copy)
    for file in [copy, copy + "-lock"] { try? FileManager.default.removeItem(atPath: file) }
  }

  private func check(_ path: String) throws {
    try? FileManager.default.removeItem(atPath: path + "-lock")
    var options = StoreOptions()
    options.trust = .verifyFirst
    try Store(at: path, entities: Self.entities, options: options).close()
    try expectSound(path)
  }
}
