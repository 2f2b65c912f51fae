import LMDB
import LodestoreBytes
import LodestoreFormat
internal import LodestorePages

extension Verifier {
  /// Checks the element indexes of an entity: that each element of each record has its entry, and
  /// that there are no other entries.
  func verifyElements(of entity: EntityDescription) throws {
    guard let records = trees[TreeName.records(entity: entity.number).text] else { return }
    let layouts = entity.layoutsByNumber
    for index in entity.elementIndexes {
      let subject = "\(entity.name).\(entity.indexName(index))"
      let treeName = TreeName.elements(entity: entity.number, index: index.number)
      guard let tree = tree(treeName, of: subject) else { continue }
      let before = findings.count
      var expected = 0
      try walk(records) { key, body in
        guard key.count == 8, let view = layouts.view(of: body),
          let keys = try? Self.keys(of: index, in: view, entity)
        else { return }
        expected += keys.count
        for element in keys {
          let entry = element + bigEndianBytes(key.uint64(at: 0))
          guard let found = try transaction.get(entry, in: tree) else {
            add(
              .entryMissing, .elementEntries, tree: tree.name, subject: subject,
              record: key.uint64(at: 0), "the record has no entry \(Finding.hexadecimal(entry))")
            continue
          }
          if !found.isEmpty {
            add(
              .entryBody, .elementBody, tree: tree.name, subject: subject,
              record: key.uint64(at: 0),
              "the body has \(found.count) bytes, must have 0")
          }
        }
      }
      let count = try transaction.count(of: tree)
      if findings.count == before, count != expected {
        add(
          .indexCount, .elementEntries, tree: tree.name, subject: subject,
          "has \(count) entries, must have \(expected)")
      }
      noteTree(tree.name, count, since: before)
    }
  }

  private static func keys(
    of index: EntityDescription.ComputedIndex, in view: RecordView, _ entity: EntityDescription
  ) throws(FormatError) -> [[UInt8]] {
    guard let position = view.layout.slotIndex(ofAttribute: index.attribute) else {
      guard case .document(let bytes) = entity.attribute(number: index.attribute)?.initial else {
        return []
      }
      return try bytes._withBytes { (bytes) throws(FormatError) in
        try DocumentElements.keys(at: index.path, of: bytes)
      }
    }
    let slot = view.layout.slots[position]
    return view.isNull(slot)
      ? [] : try DocumentElements.keys(at: index.path, of: view.variableBytes(slot))
  }
}
