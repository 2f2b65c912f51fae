import LMDB
import LodestoreBytes
import LodestoreFormat
internal import LodestorePages

extension Verifier {
  /// Checks the element indexes and place indexes of an entity.
  ///
  /// Each element and each place of a record must have its entry, and there must be no other
  /// entries.
  func verifyKeyedIndexes(of entity: EntityDescription) throws {
    guard let records = trees[TreeName.records(entity: entity.number).text] else { return }
    let layouts = entity.layoutsByNumber
    for index in entity.computedIndexes where index.kind == .elements || index.kind == .place {
      let subject = "\(entity.name).\(entity.indexName(index))"
      let (entries, body): (FormatRule, FormatRule) =
        index.kind == .place ? (.placeEntries, .placeBody) : (.elementEntries, .elementBody)
      guard let tree = tree(index.tree(of: entity.number), of: subject) else { continue }
      let before = findings.count
      let end = try builtEnd(of: index, entity)
      var expected = 0
      try walk(records) { key, record in
        guard key.count == 8, key.uint64(at: 0) < end, let view = layouts.view(of: record),
          let keys = try? index.keys(in: view, entity)
        else { return }
        expected += keys.count
        for element in keys {
          let entry = element + bigEndianBytes(key.uint64(at: 0))
          guard let found = try transaction.get(entry, in: tree) else {
            add(
              .entryMissing, entries, tree: tree.name, subject: subject,
              record: key.uint64(at: 0), "the record has no entry \(Finding.hexadecimal(entry))")
            continue
          }
          if !found.isEmpty {
            add(
              .entryBody, body, tree: tree.name, subject: subject,
              record: key.uint64(at: 0),
              "the body has \(found.count) bytes, must have 0")
          }
        }
      }
      let count = try transaction.count(of: tree)
      if findings.count == before, count != expected {
        add(
          .indexCount, entries, tree: tree.name, subject: subject,
          "has \(count) entries, must have \(expected)")
      }
      noteTree(tree.name, count, since: before)
    }
  }
}
