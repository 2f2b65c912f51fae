internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// An index of a stored entity, with its tree.
///
/// The type is a class so that a copy retains one object, and not each member.
final class StoredIndex: Sendable {
  let description: EntityDescription.Index
  let tree: Tree
  /// The name in the form `Entity.attribute+attribute`, for messages.
  let name: String
  /// The name of the entity, for messages.
  let entityName: String

  init(description: EntityDescription.Index, tree: Tree, name: String, entityName: String) {
    self.description = description
    self.tree = tree
    self.name = name
    self.entityName = entityName
  }

  var isUnique: Bool { description.isUnique }

  /// Returns the id of an entry's record.
  @inline(__always)
  func recordID(ofEntry key: ByteView, _ value: ByteView) throws(StoreError) -> UInt64 {
    if isUnique {
      if value.count == 8 { return value.uint64(at: 0) }
      throw .damagedIndex(name, "an entry's body has \(value.count) bytes, not 8")
    }
    if let id = KeyDecoder.recordIDSuffix(key) { return id }
    throw .damagedIndex(name, "an entry's key has \(key.count) bytes, too few for an id")
  }
}

/// An index with entries that are computed from values of a record, with its tree.
///
/// See Format.md, "Indexes over elements", "Search indexes", "Place indexes" and
/// "Vector indexes".
final class StoredComputedIndex: Sendable {
  /// The attribute number that stands for the element in conditions on the entries.
  static let element = UInt32.max - 1

  let description: EntityDescription.ComputedIndex
  /// The tree; for elements, the entries in the form of an index on one attribute.
  let entries: StoredIndex

  init(_ index: EntityDescription.ComputedIndex, of entity: EntityDescription, tree: Tree) {
    description = index
    entries = StoredIndex(
      description: .init(number: index.number, attributes: [Self.element], isUnique: false),
      tree: tree, name: "\(entity.name).\(entity.indexName(index))", entityName: entity.name)
  }

  /// Whether the index has the entries of some records only, so that reads must not use it.
  var isBuilding: Bool { description.isBuilding }

  /// The attributes of the values from which entries are computed.
  var attributes: Set<UInt32> { Set(description.sources.map(\.attribute)) }
}
