internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// One index of a stored entity, with its tree.
///
/// A class, so that a copy counts one reference rather than one for each member.
final class StoredIndex: Sendable {
  let description: EntityDescription.Index
  let tree: Tree
  /// `Entity.attribute+attribute`, for messages.
  let name: String
  /// Of the entity, for messages.
  let entityName: String

  init(description: EntityDescription.Index, tree: Tree, name: String, entityName: String) {
    self.description = description
    self.tree = tree
    self.name = name
    self.entityName = entityName
  }

  var isUnique: Bool { description.isUnique }

  /// The id of the record that an entry leads to.
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

/// An index over the elements of arrays in the documents of one attribute, with its tree.
///
/// See Format.md, "Indexes over elements".
final class StoredElementIndex: Sendable {
  /// In conditions on the entries, the number of what they are of.
  static let element = UInt32.max - 1

  let description: EntityDescription.ElementIndex
  /// Its entries, as those of an index over one attribute.
  let entries: StoredIndex

  init(_ index: EntityDescription.ElementIndex, of entity: EntityDescription, tree: Tree) {
    description = index
    entries = StoredIndex(
      description: .init(number: index.number, attributes: [Self.element], isUnique: false),
      tree: tree, name: "\(entity.name).\(entity.indexName(index))", entityName: entity.name)
  }
}
