package import LodestoreFormat

/// The changes that are to be read from a store.
package struct ReplayRequest: Sendable {
  /// The number of the last write that the copy has; 0 for none.
  package var after: UInt64
  /// The 16 bytes of the UUID that the store must have; `nil` for any.
  package var storeID: [UInt8]?
  /// The SHA-256 that the catalogue must have; `nil` for any.
  package var schema: [UInt8]?
  /// The names of the entities that are replayed; `nil` for all.
  package var entities: Set<String>?
  /// The digests that the copy has, without which each bucket counts as changed.
  package var digests: ReplayDigests?
  /// Whether one step has the net changes of all writes, with the last values of the records.
  package var isNet = false
  /// The bytes of records after which a step continues as another one.
  package var byteLimit = 16 << 20
  /// The bytes of keys and values that a bucket may have.
  package var bucketLimit = 16 << 20

  package init(after: UInt64) { self.after = after }
}

extension ReadableTransaction where Self: ~Copyable {
  /// Visits the changes after a write, with the values of the records.
  ///
  /// Each write is a step, whose records have the values after that write. The history has such a
  /// value as the image of the next change. One step has the net changes of all writes in three
  /// cases:
  /// - The request asks for net changes.
  /// - A write kept no image of a record that it changed.
  /// - The history of an entity was restarted.
  ///
  /// Entities that are left out are not visited. Changes that cancel each other are left out.
  ///
  /// - Returns: the facts about the last write.
  /// - Throws: ``ReplayError``.
  /// - Complexity: O(*w* + *c* log *n*) for *w* writes with *c* changes in a store of *n* records.
  package func forEachReplayStep(
    _ request: ReplayRequest, _ body: (ReplayStep) throws -> Void
  ) throws -> ReplayEnd {
    var source = try ReplaySource(request, access.core)
    return try source.read(body)
  }

  /// Returns the changes after a write, in memory.
  package func replayUnit(_ request: ReplayRequest) throws -> ReplayUnit {
    var steps: [ReplayStep] = []
    let end = try forEachReplayStep(request) { steps.append($0) }
    return ReplayUnit(steps: steps, end: end)
  }
}
