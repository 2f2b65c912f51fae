internal import LodestoreBytes
internal import LodestoreEssentials
internal import LodestoreFormat

/// The position of a copy in the history of the store that it follows.
///
/// The copy has the cursor in a bucket of the library, and changes it in the same transactions as
/// its content.
package struct ReplicaCursor: Sendable, Hashable {
  /// The 16 bytes of the UUID of the store.
  package var storeID: [UInt8]
  /// The number of the last write of the store that the copy has.
  package var lastWrite: UInt64
  /// The names of the entities that the copy has; `nil` for all.
  package var entities: [String]?
  /// The conditions of the records that the copy has, as format strings by the names of entities.
  ///
  /// The copy has all records of the other entities.
  package var conditions: [String: String]
  /// Bytes of the layer above, such as the number of a slot.
  package var mark: [UInt8]

  package init(
    storeID: [UInt8], lastWrite: UInt64, entities: [String]? = nil,
    conditions: [String: String] = [:], mark: [UInt8] = []
  ) {
    self.storeID = storeID
    self.lastWrite = lastWrite
    self.entities = entities
    self.conditions = conditions
    self.mark = mark
  }

  fileprivate static let bucket = "lodestore.replica"
  fileprivate static let key = Array("cursor".utf8)
}

extension ReadableTransaction where Self: ~Copyable {
  /// The cursor of a copy; `nil` for a store that is not a copy.
  package func replicaCursor() throws -> ReplicaCursor? {
    guard let data = try data(for: ReplicaCursor.key, in: ReplicaCursor.bucket) else { return nil }
    return try wrappingErrors { try ReplicaCursor(Array(data)) }
  }
}

extension WriteTransaction {
  /// Sets the cursor, which makes the store a copy; `nil` removes the cursor.
  package mutating func setReplicaCursor(_ cursor: ReplicaCursor?) throws {
    guard let cursor else {
      _ = try core.deleteValue(for: ReplicaCursor.key, in: ReplicaCursor.bucket)
      return
    }
    try core.put(cursor.encoded, for: ReplicaCursor.key, in: ReplicaCursor.bucket)
  }

  /// Gives the file a UUID of its own, so that tokens of its origin's history are refused.
  ///
  /// A copy numbers its writes by itself. A token of the origin would name another write here.
  package mutating func renewStoreID() throws {
    try wrappingErrors { try core.store.trees.renewUUID(in: core.writing) }
  }
}

extension ReplicaCursor {
  fileprivate var encoded: [UInt8] {
    var members: [String: Document] = [
      "store": .data(storeID), "write": .integer(Int64(clamping: lastWrite)), "mark": .data(mark),
    ]
    members["entities"] = entities.map { .array($0.map { .string($0) }) }
    if !conditions.isEmpty {
      members["conditions"] = .object(conditions.mapValues { .string($0) })
    }
    return Document.object(members).encoded()
  }

  fileprivate init(_ bytes: [UInt8]) throws(FormatError) {
    let document = try bytes._withBytes { (bytes) throws(FormatError) in
      try Document(decoding: bytes)
    }
    guard case .data(let storeID) = document["store"], storeID.count == 16,
      case .integer(let write) = document["write"], write >= 0,
      case .data(let mark) = document["mark"]
    else { throw FormatError("the cursor of a replica has no 'store', 'write' and 'mark'") }
    self.init(storeID: storeID, lastWrite: UInt64(write), mark: mark)
    conditions = try Self.conditions(in: document)
    guard let entities = document["entities"] else { return }
    guard case .array(let names) = entities else {
      throw FormatError("'entities' in the cursor of a replica is no array")
    }
    self.entities = try names.map { (name) throws(FormatError) in
      guard case .string(let text) = name else {
        throw FormatError("'entities' in the cursor of a replica has an element that is no text")
      }
      return text
    }
  }

  private static func conditions(in document: Document) throws(FormatError) -> [String: String] {
    guard let conditions = document["conditions"] else { return [:] }
    guard case .object(let members) = conditions else {
      throw FormatError("'conditions' in the cursor of a replica is no object")
    }
    var texts: [String: String] = [:]
    for (name, condition) in members {
      guard case .string(let text) = condition else {
        throw FormatError("'conditions' in the cursor of a replica has a member that is no text")
      }
      texts[name] = text
    }
    return texts
  }
}
