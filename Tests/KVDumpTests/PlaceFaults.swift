import LMDB
import LodestoreBytes
import LodestoreFormat

extension Fault {
  private static let tree = TreeName.place(entity: 2, index: 1)

  /// Adds a place index over attributes of specimens; the first record is at the latitude and
  /// longitude 0.
  private static func withPlaces(_ store: RawStore) throws {
    try store.edit(
      CatalogueKey.entity(2), .catalogue, "placeIndexes",
      to: .array([
        .object([
          "number": .integer(1), "admitsInvalid": .bool(true),
          "sources": .array([
            .object(["attribute": .integer(10), "path": .array([])]),
            .object(["attribute": .integer(11), "path": .array([])]),
          ]),
        ])
      ]))
    _ = try store.tree(tree)
  }

  private static func key(_ latitude: Double, _ longitude: Double, _ id: UInt64) -> [UInt8] {
    let field = PlaceCell(latitude: latitude, longitude: longitude)
    return bigEndianBytes(field.positions.lowerBound) + bigEndianBytes(id)
  }

  static let placeFaults: [Fault] = [
    Fault("a place has no entry", in: .kept) { try withPlaces($0) },
    Fault("the entry of a place has a body", in: .kept) { store in
      try withPlaces(store)
      try store.put(key(0, 0, 1), [1], tree)
    },
  ]

  static let placeEndFaults: [(rule: FormatRule, fault: Fault)] = [
    (
      .placeEntries,
      Fault("an entry has the place of no record", in: .kept) { store in
        try withPlaces(store)
        for (latitude, longitude, id) in [
          (0, 0, 1), (-0.5, -1.5, 2), (1.5, 0.1, 4), (9, 9, 6),
        ] as [(Double, Double, UInt64)] {
          try store.put(key(latitude, longitude, id), [], tree)
        }
      }
    )
  ]
}
