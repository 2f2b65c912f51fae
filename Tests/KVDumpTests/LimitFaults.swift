import LMDB
import LodestoreFormat

/// Faults of limits of entities.
extension Fault {
  static let limitFaults: [Fault] = [
    catalogue(
      "a limit is by an attribute that is not there", "limit",
      .object(["count": .integer(5), "attribute": .integer(99)])),
    catalogue(
      "an entity is limited by bytes and has no size", "limit",
      .object(["bytes": .integer(1_000)])),
  ]

  static let limitEndFaults: [(rule: FormatRule, fault: Fault)] = [
    (.catalogueLimit, catalogue("a limit is of nothing", "limit", .object([:]))),
    (
      .catalogueMembers,
      catalogue("a limit is of no records", "limit", .object(["count": .integer(0)]))
    ),
    (
      .counterKey,
      Fault("a size is of an entity without a limit") {
        try $0.put(CounterKey.size(entity: 1), littleEndianBytes(UInt64(9)), .counters)
      }
    ),
  ]
}
