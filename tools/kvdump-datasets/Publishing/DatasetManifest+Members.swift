import EntityStore
import KVDumpCommands
import LodestoreDatasets
import LodestoreJSON

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension DatasetManifest {
  /// The manifest as lines for people and as an object for programs.
  var members: [(column: Column, cell: Cell)] {
    [
      (Column("name"), .text(name)), (Column("generation"), .unsigned(generation)),
      (Column("dataAsOf", title: "data as of"), date(dataAsOf)),
      (Column("builtAt", title: "built"), date(builtAt)),
      (Column("publishedAt", title: "published"), date(publishedAt)),
      (Column("keySet", title: "key set"), .integer(Int64(keySet))),
      (Column("records"), .count(records.values.reduce(0, +))),
      (Column("size"), .byteCount(Int(length))), (Column("verity"), .text(digest.description)),
      (Column("content"), .text(contentDigest)), (Column("schema"), .text(schemaFingerprint)),
      (Column("file"), .text(whole.path)), (Column("compressed"), .byteCount(Int(whole.length))),
      (Column("patches"), .json(patchText)), (Column("mirrors"), .json(mirrorText)),
    ]
  }

  private func date(_ date: Date) -> Cell { ISO8601Text.text(date).map(Cell.date) ?? .null }

  private var patchText: String {
    JSONValue.array(
      patches.map { patch in
        .object([
          "from": JSONValue(patch.from), "file": .string(patch.path),
          "size": JSONValue(patch.length),
        ])
      }
    ).description
  }

  private var mirrorText: String { JSONValue.array(mirrors.map(JSONValue.string)).description }
}
