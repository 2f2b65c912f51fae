import LMDB
import LodestoreBytes
import LodestoreFormat
internal import LodestorePages

extension Verifier {
  /// Checks that the vector indexes of an entity have exactly the blocks that follow from its
  /// records.
  func verifyVectors(of entity: EntityDescription) throws {
    guard let records = trees[TreeName.records(entity: entity.number).text] else { return }
    let layouts = entity.layoutsByNumber
    for index in entity.computedIndexes where index.kind == .vector {
      let subject = "\(entity.name).\(entity.indexName(index))"
      guard let tree = tree(index.tree(of: entity.number), of: subject) else { continue }
      let before = findings.count
      let end = try builtEnd(of: index, entity)
      let form = VectorForm(dimensions: index.dimensions)
      let encoder = VectorEncoder(dimensions: index.dimensions)
      var open: [VectorForm.Part: (number: UInt64, block: VectorBlockBuilder)] = [:]
      var expected = 0
      func compare(_ part: VectorForm.Part) throws {
        guard let (number, block) = open.removeValue(forKey: part) else { return }
        expected += 1
        guard let found = try transaction.get(VectorForm.key(part, number), in: tree) else {
          add(
            .entryMissing, .vectorEntries, tree: tree.name, subject: subject,
            "block \(number) of \(part) is missing")
          return
        }
        do throws(FormatError) {
          _ = try VectorBlock(found, part, of: form)
        } catch {
          add(
            .entryBody, error.rule ?? .vectorBlock, tree: tree.name, subject: subject,
            "block \(number) of \(part): \(error.description)")
          return
        }
        if block.bytes != Array(found) {
          add(
            .entryBody, .vectorEntries, tree: tree.name, subject: subject,
            "block \(number) of \(part) does not have the codes of the records")
        }
      }
      try walk(records) { key, body in
        guard key.count == 8, key.uint64(at: 0) < end, let view = layouts.view(of: body),
          case .vector(let vector) = IndexedVector(of: index, in: view, entity)
        else { return }
        let code = encoder.code(of: vector)
        for part in VectorForm.Part.allCases {
          let (number, offset) = key.uint64(at: 0).quotientAndRemainder(dividingBy: form.span(part))
          if let other = open[part]?.number, other != number { try compare(part) }
          open[part, default: (number, VectorBlockBuilder())].block
            .append(code, at: UInt16(offset), part, of: form)
        }
      }
      for part in VectorForm.Part.allCases { try compare(part) }
      let count = try transaction.count(of: tree)
      if findings.count == before, count != expected {
        add(
          .indexCount, .vectorEntries, tree: tree.name, subject: subject,
          "has \(count) blocks, must have \(expected)")
      }
      noteTree(tree.name, count, since: before)
    }
  }
}
