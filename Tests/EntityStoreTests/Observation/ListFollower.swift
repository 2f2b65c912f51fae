import EntityStore
import Foundation
import Testing

/// A list that only applies the differences of updates, and never reads the store.
struct ListFollower {
  private(set) var sections: [[UInt64]] = []

  init(_ sections: [[UInt64]]) { self.sections = sections }

  /// Applies the difference row by row, as the documentation of `ResultDifference` describes it.
  mutating func apply(_ difference: ResultDifference, _ id: (Int) -> UInt64) throws {
    let gone = (difference.deleted + difference.moved.map(\.from)).sorted()
    var moving: [Int: UInt64] = [:]
    for row in difference.moved { moving[row.from.index] = id(row.to.index) }
    for row in (difference.updated + difference.moved) {
      #expect(sections[row.from.section][row.from.row] == id(row.to.index))
    }
    for position in gone.reversed() { sections[position.section].remove(at: position.row) }
    for section in difference.deletedSections.reversed() {
      #expect(sections[section].isEmpty)
      sections.remove(at: section)
    }
    for section in difference.insertedSections { sections.insert([], at: section) }
    for position in (difference.inserted + difference.moved.map(\.to)).sorted() {
      sections[position.section].insert(id(position.index), at: position.row)
    }
  }
}

/// A sequence that a test advances one element at a time.
final class Turner<S: AsyncSequence & Sendable>: @unchecked Sendable where S.Element: Sendable {
  private var iterator: S.AsyncIterator

  init(_ sequence: S) { iterator = sequence.makeAsyncIterator() }

  func next() async throws -> S.Element? {
    var taken = iterator
    defer { iterator = taken }
    return try await taken.next()
  }
}
