import LMDB
import LodestoreFormat

@testable import KVDumpCommands
@testable import LodestorePages
@testable import LodestoreVerifier

/// Faults of relationships and links.
extension Fault {
  private static func relationship(
    _ name: String, _ number: UInt32, _ path: String, _ value: Document?
  ) -> Fault {
    Fault(name, in: .kept) {
      try $0.edit(CatalogueKey.relationship(number), .catalogue, path, to: value)
    }
  }

  static let holderFaults: [(rule: FormatRule, fault: Fault)] = [
    (
      .relationshipHolder,
      relationship("the side that an attribute holds has a name", 2, "from.name", .string("holder"))
    ),
    (
      .relationshipHolder,
      Fault("an attribute holds two relationships", in: .kept) { store in
        let held = try store.get(CatalogueKey.relationship(2), .catalogue)
        let key = CatalogueKey.relationship(9)
        // The first four bytes of the body are the checksum.
        let content = Array(held.dropFirst(4))
        try store.put(key, Checksum.sealed(key: key, content: content), .catalogue)
        try store.put(CounterKey.nextRelationship, littleEndianBytes(UInt64(10)), .counters)
      }
    ),
  ]

  static let linkFaults: [Fault] = [
    relationship("a side has an unknown delete rule", 1, "from.onDelete", .string("vanish")),
    relationship("a side denies by a number", 1, "from.denyWhere", .integer(1)),
    relationship("a side has the name of an attribute", 1, "to.name", .string("name")),
    relationship("a side is of no entity", 1, "to.entity", .integer(99)),
    relationship("a relationship is held by a text", 2, "attribute", .integer(1)),
    relationship("the one record of an attribute is ordered", 2, "from.ordered", .bool(true)),
    Fault("a link is not of two ids", in: .kept) {
      try $0.put([1, 2, 3], [], .links(relationship: 1, side: .from))
    },
    Fault("a link has a body", in: .kept) { store in
      let tree = TreeName.links(relationship: 1, side: .from)
      try store.put(store.pairs(tree)[0].key, [1], tree)
    },
    Fault("a link is known from one side alone", in: .kept) { store in
      let tree = TreeName.links(relationship: 1, side: .to)
      try store.remove(store.pairs(tree)[0].key, tree)
    },
    Fault("a link leads to a record that is gone", in: .kept) {
      _ = try $0.transaction.delete(UInt64(1), in: $0.tree(.records(entity: 6)))
    },
    Fault("links of an ordered side have no positions", in: .kept) { store in
      try store.edit(CatalogueKey.relationship(1), .catalogue, "from.ordered", to: .bool(true))
      _ = try store.tree(.order(relationship: 1, side: .from))
    },
  ]
}
