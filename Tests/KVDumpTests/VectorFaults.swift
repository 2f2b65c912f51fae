import LMDB
import LodestoreBytes
import LodestoreFormat

extension Fault {
  private static let tree = TreeName.vector(entity: 2, index: 1)
  private static let form = VectorForm(dimensions: 2)

  /// Makes the names of pods data, with a vector index over them and one record with a vector.
  private static func withVectors(_ store: RawStore) throws {
    for path in ["attributes.0", "layouts.0.attributes.0", "layouts.1.attributes.0"] {
      try store.edit(CatalogueKey.entity(2), .catalogue, path + ".type", to: .string("data"))
    }
    try store.edit(
      CatalogueKey.entity(2), .catalogue, "vectorIndexes",
      to: .array([
        .object(["number": .integer(1), "attribute": .integer(1), "dimensions": .integer(2)])
      ]))
    let layout = RecordLayout(
      number: 2,
      attributes: [
        .init(number: 1, type: .data, isOptional: false),
        .init(number: 2, type: .int64, isOptional: false),
      ])
    let bytes = [1, -2].flatMap { littleEndianBytes(Float($0).bitPattern) }
    try store.putRecord(
      90, layout.record(id: 90, values: [.data(bytes), .integer(1)]), entity: 2)
    _ = try store.tree(tree)
  }

  private static func put(_ part: VectorForm.Part, _ vector: [Float], _ store: RawStore) throws {
    var block = VectorBlockBuilder()
    let code = VectorEncoder(dimensions: 2).code(of: vector)
    block.append(code, at: 90, part, of: form)
    try store.put(VectorForm.key(part, 0), block.bytes, tree)
  }

  /// Puts centroids that are all alike.
  private static func putCentroids(groups: UInt16, lists: UInt16, _ store: RawStore) throws {
    let code = VectorEncoder(dimensions: 2).code(of: [1, -2])
    for (part, count) in [(VectorForm.Part.groups, groups), (.lists, lists)] {
      var block = VectorBlockBuilder()
      for number in 0..<count { block.append(code, at: number, part, of: form) }
      try store.put(VectorForm.key(part, 0), block.bytes, tree)
    }
  }

  static let vectorFaults: [Fault] = [
    Fault("a block of vectors ends too early") { store in
      try withVectors(store)
      try store.put(VectorForm.key(.signs, 0), [1, 2, 3], tree)
    },
    Fault("a vector has no codes") { try withVectors($0) },
    Fault("two groups have three lists") { store in
      try withVectors(store)
      try putCentroids(groups: 2, lists: 3, store)
    },
  ]

  static let vectorEndFaults: [(rule: FormatRule, fault: Fault)] = [
    (
      .vectorEntries,
      Fault("a vector is in the second of two equal lists") { store in
        try withVectors(store)
        try putCentroids(groups: 2, lists: 4, store)
        try put(.levels, [1, -2], store)
        var block = VectorBlockBuilder()
        block.append(
          VectorEncoder(dimensions: 2).code(of: [1, -2]), at: 90, .listedSigns, of: form)
        try store.put(VectorForm.key(list: 1, section: 0, run: 0), block.bytes, tree)
      }
    ),
    (
      .vectorEntries,
      Fault("the levels are those of another vector") { store in
        try withVectors(store)
        try put(.signs, [1, -2], store)
        try put(.levels, [1, -1.9], store)
      }
    ),
    (
      .vectorEntries,
      Fault("a block has the codes of no record") { store in
        try withVectors(store)
        try put(.signs, [1, -2], store)
        try put(.levels, [1, -2], store)
        try store.put(VectorForm.key(.levels, 1), store.get(VectorForm.key(.levels, 0), tree), tree)
      }
    ),
  ]
}
