internal import LodestoreFormat

extension DynamicStore {
  /// Throws if nothing can be written: the file is sealed, or was opened read-only.
  package func checkWritable() throws(StoreError) { try core.checkWritable() }

  /// Runs `body` as a write that is undone at its end, and returns the result of `body`.
  ///
  /// Like a write, the call waits for other writers. `body` may run more than once.
  package func rehearse<R>(_ body: (DynamicTransaction) throws -> R) throws -> R {
    var result: R?
    do {
      try writeCounting { transaction in
        result = try body(transaction)
        throw Rehearsed()
      }
    } catch is Rehearsed {}
    guard let result else { throw Rehearsed() }
    return result
  }

  /// Runs `body` as ``write(_:)`` does, in a transaction with ``DynamicTransaction/changes``.
  package func writeCounting<R>(
    author: String? = nil, _ body: (DynamicTransaction) throws -> R
  ) throws -> R {
    let key = core.observers.add { _ in ChangeTally() }
    defer { core.observers.remove(key) }
    return try core.write(origin: WriteOrigin(author: author)) {
      try body(DynamicTransaction(core: $0))
    }
  }

  /// Thrown to undo a write.
  private struct Rehearsed: Error {}
}

extension DynamicTransaction {
  /// The changes so far.
  ///
  /// Derived attributes change at the end of the write, so their changes are not included before
  /// ``finishRehearsal()``. Empty unless the transaction is one of
  /// ``DynamicStore/writeCounting(author:_:)`` or ``DynamicStore/rehearse(_:)``.
  package var changes: DynamicChanges {
    core.sinks?.all.lazy.compactMap { ($0 as? ChangeTally)?.changes }.first ?? DynamicChanges()
  }

  /// Makes the changes and the checks that end a write: derived attributes, and links to missing
  /// records.
  ///
  /// Only a rehearsal may call this method, and must not change anything afterwards.
  package func finishRehearsal() throws(StoreError) { try core.endChanges() }
}

/// The numbers of records and links that a write changes.
package struct DynamicChanges: Sendable, Hashable {
  /// The changed records of one entity.
  package struct Records: Sendable, Hashable {
    package var entity: String
    package var inserted = 0
    package var updated = 0
    package var deleted = 0
    /// The names of the attributes that updates change.
    package var attributes: [String] = []
  }

  /// The changed links of one relationship that is not held by an attribute.
  package struct Links: Sendable, Hashable {
    /// The relationship as `Entity.name`.
    package var relationship: String
    package var added = 0
    package var removed = 0
  }

  /// Sorted by the entities' names.
  package var records: [Records] = []
  /// Sorted by the relationships' names.
  package var links: [Links] = []

  package init() {}

  package var isEmpty: Bool { records.isEmpty && links.isEmpty }
}

/// Counts the changes of one write.
private final class ChangeTally: ChangeSink {
  let name = "the count of changes"
  private var entities: [EntityNumber: NetChanges] = [:]
  private var links: [UInt32: NetLinks] = [:]

  func interest(in _: StoredEntity) -> ChangeInterest? { [.attributes, .eachRemoval] }

  func record(_ change: RecordChange, of entity: StoredEntity) {
    var net = entities.removeValue(forKey: entity.number) ?? NetChanges(of: entity)
    switch change {
    case .inserted(let ids): net.insert(ids)
    case .insertedRecord(let id, _): net.insert(id..<id + 1)
    case .updated(let id, _, _, let attributes):
      if let attributes { net.update(id, attributes) }
    case .removed(let id, _): net.remove(id)
    // Each record of the entity follows.
    case .cleared: break
    }
    entities[entity.number] = net
  }

  func record(_ change: borrowing LinkChange) {
    let relationship = change.end.relationship
    var net =
      links.removeValue(forKey: relationship.description.number)
      ?? NetLinks(relationship.end(.from))
    net.note(change)
    links[relationship.description.number] = net
  }

  var changes: DynamicChanges {
    var result = DynamicChanges()
    for net in entities.values {
      let set = net.result()
      if set.isEmpty { continue }
      var records = DynamicChanges.Records(entity: set.entity.name)
      records.inserted = set.inserted.count
      records.deleted = set.deleted.count
      records.updated = set.updated.reduce(0) { $0 + $1.ids.count }
      let all = set.updated.map(\.attributes).reduce(nil as AttributeSet?) {
        $0?.union($1) ?? $1
      }
      records.attributes = (all?.positions ?? []).compactMap { position in
        let stored = set.entity.layout.attributes
        guard stored.indices.contains(position) else { return nil }
        return set.entity.description.attribute(number: stored[position].number)?.name
      }
      result.records.append(records)
    }
    for net in links.values where !net.isEmpty {
      // A relationship that an attribute holds changes with the attribute.
      guard net.end.relationship.linksFrom != nil else { continue }
      result.links.append(
        DynamicChanges.Links(
          relationship: net.end.relationship.namedEnd.label, added: net.pairs(.added).count,
          removed: net.pairs(.removed).count))
    }
    result.records.sort { $0.entity < $1.entity }
    result.links.sort { $0.relationship < $1.relationship }
    return result
  }
}
