import LMDB
import LodestoreFormat

@testable import KVDumpCommands
@testable import LodestorePages
@testable import LodestoreVerifier

extension Fault {
  private static let firstHistoryPart = HistoryKey.part(transaction: 1, part: 0).bytes

  /// Faults of a history in addition to those of the table of rules.
  static let historyEndFaults: [(rule: FormatRule, fault: Fault)] = [
    (
      .historyKept,
      Fault("values are preserved of a record that was updated", in: .kept) {
        let key = HistoryKey.tombstone(entity: 4, id: 1, transaction: 2).bytes
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
}
