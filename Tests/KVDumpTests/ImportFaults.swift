import LMDB
import LodestoreFormat

@testable import KVDumpCommands
@testable import LodestorePages
@testable import LodestoreVerifier

/// Faults of the tree `imports`, and contents that are sound: Format.md, "Imports".
extension Fault {
  private static func imported(_ name: String, _ key: ImportKey, _ document: Document) -> Fault {
    Fault(name) {
      let key = key.bytes(name: "Film")
      try $0.put(key, Checksum.sealed(key: key, content: document.encoded()), .imports)
    }
  }

  /// A report as every import writes it.
  private static func report(
    _ ending: String, run: Int64 = 2, name: String = "Film"
  ) -> Document {
    let counts = [
      "pages", "unchangedPages", "inserted", "updated", "unchanged", "ignored", "deleted",
      "rejected", "bytes", "commits", "resumptions",
    ].map { ($0, Document.integer(0)) }
    let seconds = ["seconds", "decodingSeconds", "writingSeconds"].map { ($0, Document.double(0)) }
    let others: [(String, Document)] = [
      ("name", .string(name)), ("entity", .string("Film")), ("strategy", .string("upsert")),
      ("run", .integer(run)), ("ending", .string(ending)), ("startedAt", .date(0)),
      ("keptUnseen", .bool(false)), ("unknownMembers", .object([:])), ("rejects", .array([])),
    ]
    return .object(
      Dictionary(counts + seconds + others, uniquingKeysWith: { first, _ in first }))
  }

  private static func state(ending: String, pendingID: Int64, key: [Document]) -> Document {
    .object([
      "report": report(ending), "pages": .integer(1), "isAtEnd": .bool(false),
      "digest": .integer(0),
      "pendingLinks": .array([
        .object([
          "link": .integer(0), "id": .integer(pendingID), "page": .integer(1),
          "record": .integer(1), "key": .array(key),
        ])
      ]),
    ])
  }

  private static func remembered(
    ids: [Document], pairs: [Document], key: [Document]
  ) -> (key: ImportKey, document: Document) {
    let unresolved: Document = .object(["id": .integer(1), "key": .array(key)])
    let document: Document = .object([
      "page": .object(["name": .string("p1")]), "ids": .array(ids),
      "links": .array([
        .object(["pairs": .array(pairs), "unresolved": .array([unresolved])])
      ]),
    ])
    return (.memory(SHA256.hash("p1".utf8)), document)
  }

  private static let nullKey: [Document] = [.integer(0)]

  private static func remembering(
    _ name: String, ids: [Document] = [], pairs: [Document] = [], key: [Document] = nullKey
  ) -> (rule: FormatRule, fault: Fault) {
    let (place, document) = remembered(ids: ids, pairs: pairs, key: key)
    return (.importPage, imported(name, place, document))
  }

  /// Sound contents of the tree `imports`; each fault below differs from one of them in one value.
  static let soundImports: [Fault] = [
    imported("a report of a run", .report(run: 2), report("failed")),
    imported("an open run", .state, state(ending: "cancelled", pendingID: 1, key: nullKey)),
    {
      let (key, document) = remembered(
        ids: [.integer(.max)], pairs: [.integer(1), .integer(2)], key: nullKey)
      return imported("a remembered page", key, document)
    }(),
    imported("ids of a page", .seen(page: 1), .array([.integer(1), .integer(.max)])),
  ]

  static let importEndFaults: [(rule: FormatRule, fault: Fault)] = [
    (.importKey, imported("ids are kept of page 0", .seen(page: 0), .array([.integer(1)]))),
    (.importIDs, imported("an id of a page is 0", .seen(page: 1), .array([.integer(0)]))),
    (.importIDs, imported("an id is 2^63", .seen(page: 1), .array([.unsigned(1 << 63)]))),
    (.importReport, imported("a report is of an open run", .report(run: 2), report("open"))),
    (
      .importReport,
      imported("a report is of another run", .report(run: 3), report("finished"))
    ),
    (
      .importReport,
      imported("a report is of another import", .report(run: 2), report("failed", name: "Other"))
    ),
    (
      .importState,
      imported(
        "an open run is finished", .state, state(ending: "finished", pendingID: 1, key: nullKey))
    ),
    (
      .importState,
      imported(
        "a link to come is of id 0", .state, state(ending: "open", pendingID: 0, key: nullKey))
    ),
    (
      .importState,
      imported(
        "a key to come is no document", .state,
        state(ending: "open", pendingID: 1, key: [.integer(255)]))
    ),
    remembering("a remembered page has id 0", ids: [.integer(0)]),
    remembering("a pair has one id", pairs: [.integer(1)]),
    remembering("a pair has id 0", pairs: [.integer(1), .integer(0)]),
    remembering("a key that led nowhere is no document", key: []),
  ]

  static let importFaults: [Fault] = [
    imported("an open import has no report", .state, .object(["pages": .integer(0)])),
    imported("an import's report is null", .report(run: 2), .null),
    imported(
      "a remembered page has no name", .memory([UInt8](repeating: 0, count: 32)), .object([:])),
    imported(
      "a remembered page is under another's key", .memory([UInt8](repeating: 0, count: 32)),
      .object(["page": .object(["name": .string("page 1")])])),
    imported("the ids of a page are an object", .seen(page: 1), .object([:])),
    imported("what memories depend on has no mark", .basis, .object(["epoch": .integer(1)])),
  ]
}
