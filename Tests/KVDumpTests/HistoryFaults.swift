import LMDB
import LodestoreFormat

@testable import KVDumpCommands
@testable import LodestorePages
@testable import LodestoreVerifier

extension Fault {
  private static let firstHistoryPart = HistoryKey.part(write: 1, part: 0).bytes

  /// Faults of a history in addition to those of the table of rules.
  static let historyEndFaults: [(rule: FormatRule, fault: Fault)] = [
    (
      .historyKept,
      Fault("values are preserved of a record that was updated", in: .kept) {
        let key = HistoryKey.tombstone(entity: 4, id: 1, write: 2).bytes
        let values: Document = .object([:])
        try $0.put(key, Checksum.sealed(key: key, content: values.encoded()), .history)
      }
    ),
    (
      .historyOnce,
      Fault("a write adds and removes one link", in: .kept) {
        let links: [Document] = ["added", "removed"].map { kind in
          .object(["relationship": .integer(1), kind: .data([1, 0, 4])])
        }
        try $0.edit(firstHistoryPart, .history, "links", to: .array(links))
      }
    ),
    (
      .historyPart,
      Fault("the time of a write is no number", in: .kept) {
        try $0.edit(firstHistoryPart, .history, "time", to: .date(.nan))
      }
    ),
    (
      .historyPart,
      Fault("the entities that a write does not report do not ascend", in: .kept) {
        try $0.edit(firstHistoryPart, .history, "untold", to: .array([.integer(3), .integer(2)]))
      }
    ),
    (
      .historyMark,
      Fault("the time of a consumer is infinite", in: .kept) {
        try $0.edit(HistoryKey.consumer("index").bytes, .history, "time", to: .date(.infinity))
      }
    ),
  ]

  /// A fault that replaces the changes in the first write of the history.
  private static func changes(_ name: String, _ changes: [Document]) -> Fault {
    Fault(name, in: .kept) {
      try $0.edit(firstHistoryPart, .history, "changes", to: .array(changes))
    }
  }

  /// A first write that added these links.
  private static func links(_ name: String, _ relationship: Int64, _ pairs: [UInt8]) -> Fault {
    let links: Document = .object([
      "relationship": .integer(relationship), "added": .data(pairs),
    ])
    return Fault(name, in: .kept) {
      try $0.edit(firstHistoryPart, .history, "links", to: .array([links]))
    }
  }

  static let historyFaults: [Fault] = [
    Fault("a history has an unknown key", in: .kept) { try $0.put([9], [], .history) },
    Fault("a write of the history has no time", in: .kept) {
      try $0.edit(firstHistoryPart, .history, "time", to: .integer(1))
    },
    Fault("a write of the history lacks a part", in: .kept) {
      try $0.edit(firstHistoryPart, .history, "parts", to: .integer(2))
    },
    Fault("the first write of the history is gone", in: .kept) { store in
      for (key, _) in try store.pairs(.history) where key.starts(with: firstHistoryPart.prefix(9)) {
        try store.remove(key, .history)
      }
    },
    Fault("a purged write is still there", in: .kept) {
      let key = HistoryKey.purged.bytes
      let mark: Document = .object(["number": .integer(1), "time": .date(0)])
      try $0.put(key, Checksum.sealed(key: key, content: mark.encoded()), .history)
    },
    Fault("a run of ids is of no id", in: .kept) {
      try $0.edit(firstHistoryPart, .history, "changes.0.inserted", to: .data([0, 0]))
    },
    Fault("a change is of no record", in: .kept) {
      try $0.edit(firstHistoryPart, .history, "changes.0.inserted", to: .data([]))
    },
    changes(
      "a write inserts and deletes one record",
      [
        .object(["entity": .integer(4), "inserted": .data([1, 1])]),
        .object(["entity": .integer(4), "deleted": .data([2, 0])]),
      ]),
    changes(
      "an update is of an attribute that never was",
      [
        .object([
          "entity": .integer(4), "updated": .data([1, 0]), "attributes": .array([.integer(99)]),
        ])
      ]),
    links("two pairs of links are the same", 1, [1, 1, 4, 0]),
    links("links of the history are of a relationship that never was", 99, [1, 0, 4]),
    Fault("a write keeps its images under the number of a later one", in: .kept) {
      try $0.edit(firstHistoryPart, .history, "images", to: .integer(2))
    },
    Fault("a change is of no entity", in: .kept) {
      try $0.edit(firstHistoryPart, .history, "changes.0.entity", to: .integer(99))
    },
    Fault("an image's checksum is wrong", in: .kept) {
      let key = HistoryKey.image(entity: 4, id: 1, write: 2).bytes
      var body = try $0.get(key, .history)
      body[body.count - 1] ^= 1
      try $0.put(key, body, .history)
    },
    Fault("what is preserved is of no attribute", in: .kept) {
      try $0.edit(
        HistoryKey.tombstone(entity: 4, id: 3, write: 2).bytes, .history, "99",
        to: .integer(1))
    },
    Fault("an image is of a record that its write did not change", in: .kept) { store in
      let body = try store.get(HistoryKey.image(entity: 4, id: 1, write: 2).bytes, .history)
      try store.put(HistoryKey.image(entity: 4, id: 1, write: 1).bytes, body, .history)
    },
    Fault("one image of two is gone", in: .kept) {
      try $0.remove(HistoryKey.image(entity: 4, id: 1, write: 2).bytes, .history)
    },
    Fault("a consumer has read a write that was not recorded", in: .kept) {
      try $0.edit(HistoryKey.consumer("index").bytes, .history, "number", to: .integer(99))
    },
  ]
}
