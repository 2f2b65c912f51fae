internal import LMDB

/// A position in a sequence of differences, between two commits or since a point in the history.
protocol DifferenceSource: Sendable {
  /// The differences of the schema.
  var schema: [SchemaDifference] { get }
  /// The names of the attributes, relationships and entities that are not compared; see
  /// ``StoreDifferences/uncompared``.
  var uncompared: [String] { get }

  /// Continues the comparison until `budget` is spent or the end is reached; returns false at the
  /// end.
  mutating func advance(
    _ budget: inout DifferenceBudget, _ visit: (FoundDifference) throws -> Void
  ) throws -> Bool
}

extension DifferenceSource {
  /// Returns the next differences, converted by `make`; empty at the end.
  ///
  /// Reads repeatedly until there is a difference, calling `isCancelled` at least every few
  /// milliseconds.
  mutating func next<Element>(
    isCancelled: () -> Bool, _ make: (FoundDifference) throws -> Element?
  ) throws -> [Element] {
    var found: [Element] = []
    var goesOn = true
    while goesOn, found.isEmpty {
      if isCancelled() { throw CancellationError() }
      var budget = DifferenceBudget()
      goesOn = try advance(&budget) { if let element = try make($0) { found.append(element) } }
    }
    return found
  }
}

/// An iteration over differences that keeps a few of them in memory.
struct DifferenceReader<Element: Sendable>: Sendable {
  private var source: any DifferenceSource
  private let store: StoreCore
  private let make: @Sendable (FoundDifference) throws -> Element?
  /// Differences that were read and not returned yet, in reversed order, so that the next one is
  /// the last element.
  private var buffer: [Element]
  private var isOver = false

  init(
    _ source: any DifferenceSource, _ store: StoreCore, first: [Element] = [],
    _ make: @escaping @Sendable (FoundDifference) throws -> Element?
  ) {
    self.source = source
    self.store = store
    self.make = make
    buffer = first.reversed()
  }

  /// Returns the next difference, read on a thread of the newer store; `nil` after the last.
  mutating func next() async throws -> Element? {
    try Task.checkCancellation()
    if let element = buffer.popLast() { return element }
    if isOver { return nil }
    isOver = true
    let (source, make) = (source, make)
    let isCancelled = Latch()
    let (moved, found) = try await withTaskCancellationHandler {
      try await store.onReader {
        var source = source
        let found = try source.next(isCancelled: { isCancelled.isSet }, make)
        return (source, found)
      }
    } onCancel: {
      isCancelled.set()
    }
    self.source = moved
    return take(found)
  }

  /// Returns the next difference, read on the calling thread; `nil` after the last.
  private mutating func nextHere() throws -> Element? {
    if let element = buffer.popLast() { return element }
    if isOver { return nil }
    isOver = true
    return take(try source.next(isCancelled: { false }, make))
  }

  /// Visits the differences on the calling thread, until `body` returns false.
  func forEach(_ body: (Element) throws -> Bool) throws {
    var reader = self
    while let difference = try reader.nextHere() {
      guard try body(difference) else { return }
    }
  }

  private mutating func take(_ found: [Element]) -> Element? {
    buffer = found.reversed()
    isOver = buffer.isEmpty
    return buffer.popLast()
  }
}
