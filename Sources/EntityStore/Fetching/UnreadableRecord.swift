/// A record that a fetch found but could not read.
///
/// Either the record's bytes break the format, or a value does not fit the program's type. Such a
/// value is a raw value without a case, or a document that does not decode.
///
///     var unreadable: [UnreadableRecord<Note>] = []
///     let notes = try store.fetch(Note.all, onUnreadable: { unreadable.append($0) })
///     for record in unreadable { print(record) }
public struct UnreadableRecord<E: Entity>: Sendable, Identifiable {
  /// The record's id.
  public let id: E.ID
  /// The reason why the record cannot be read, with the attribute at fault if there is one.
  public let error: StoreError

  init(_ id: UInt64, _ error: any Error) {
    self.id = RecordID(rawValue: id)
    self.error = StoreError(wrapping: error)
  }
}

extension UnreadableRecord: CustomStringConvertible {
  /// The message of ``error``, which names the entity and the record.
  public var description: String { error.description }
}

// Fetches that continue after a record that cannot be read.
//
// If the query's condition or order cannot be evaluated for such a record, the fetch still fails.

extension ReadableTransaction where Self: ~Copyable {
  /// Returns the records that `query` finds, in its order, without those that cannot be read.
  ///
  /// - Parameter report: called with each record that cannot be read, in the order of the query.
  /// - Throws: the errors of ``fetch(_:)-(Query<E>)``, except those for a record that cannot be
  ///   read.
  @inlinable
  public func fetch<E: Entity>(
    _ query: Query<E>, onUnreadable report: (UnreadableRecord<E>) -> Void
  ) throws(StoreError) -> [E] {
    var found: [E] = []
    try access.readResults(of: query, onUnreadable: report) { reader in
      found.append(try E.read(from: &reader))
      return true
    }
    return found
  }

  /// Returns the records with these ids, in the order of `ids`, without those that are missing or
  /// cannot be read.
  ///
  /// - Parameter report: called with each record that cannot be read, in any order.
  @inlinable
  public func fetch<E: Entity>(
    _ ids: some Sequence<RecordID<E>>, onUnreadable report: (UnreadableRecord<E>) -> Void
  ) throws(StoreError) -> [E] {
    let wanted = ids.map(\.rawValue)
    var found = [E?](repeating: nil, count: wanted.count)
    try access.readRecords(wanted, onUnreadable: report) { found[$0] = try E.read(from: &$1) }
    return found.compactMap { $0 }
  }

  /// Visits the records that `query` finds, in its order, without those that cannot be read.
  ///
  /// As in `forEach` of a query, one record at a time is in memory.
  ///
  /// - Parameter report: called with each record that cannot be read, in the order of the query.
  @inlinable
  public func forEach<E: Entity>(
    _ query: Query<E>, onUnreadable report: (UnreadableRecord<E>) -> Void,
    _ body: (E) throws -> Void
  ) throws {
    var thrown: (any Error)?
    try access.readResults(of: query, onUnreadable: report) { reader in
      let value = try E.read(from: &reader)
      do {
        try body(value)
        return true
      } catch {
        thrown = error
        return false
      }
    }
    if let thrown { throw thrown }
  }

  /// Returns one page of results without the records that cannot be read, with the token for the
  /// next page.
  ///
  /// An unreadable record counts toward the limit. So a page may have fewer records, or none,
  /// although another page follows. Otherwise the call is like ``page(_:)``.
  ///
  /// - Parameter report: called with each record that cannot be read, in the order of the query.
  @inlinable
  public func page<E: Entity>(
    _ query: Query<E>, onUnreadable report: (UnreadableRecord<E>) -> Void
  ) throws(StoreError) -> Page<E> {
    var items: [E] = []
    let next = try access.readPage(of: query, onUnreadable: report) {
      items.append(try E.read(from: &$0))
    }
    return Page(items: items, next: next, commitNumber: commitNumber)
  }
}

extension FetchedResults {
  /// Decodes all records, without those that cannot be read.
  ///
  /// - Parameter report: called with each record that cannot be read, in order.
  @inlinable
  public func values(onUnreadable report: (UnreadableRecord<E>) -> Void) throws(StoreError) -> [E] {
    try values(isCancelled: { false }, onUnreadable: report)
  }

  @inlinable
  func values(
    isCancelled: () -> Bool, onUnreadable report: (UnreadableRecord<E>) -> Void
  ) throws(StoreError) -> [E] {
    var found: [E] = []
    found.reserveCapacity(count)
    try readValues(isCancelled: isCancelled, onUnreadable: report) {
      found.append(try E.read(from: &$0))
    }
    return found
  }
}

extension Store {
  /// Fetches on a thread of the store, with progress, without the records that cannot be read.
  ///
  /// Otherwise the call is like ``fetch(_:onProgress:)``.
  ///
  /// - Parameters:
  ///   - onProgress: called on the store's thread, at most a hundred times a second.
  ///   - report: called on the store's thread with each record that cannot be read, in the order of
  ///     the query.
  @inlinable @_disfavoredOverload
  public func fetch<E: Entity>(
    _ query: Query<E>, onProgress: (@Sendable (WorkProgress) -> Void)? = nil,
    onUnreadable report: @escaping @Sendable (UnreadableRecord<E>) -> Void
  ) async throws -> [E] {
    try await running(onProgress) { read in
      var found: [E] = []
      try read.readResults(of: query, onUnreadable: report) { reader in
        found.append(try E.read(from: &reader))
        return true
      }
      return found
    }
  }
}
