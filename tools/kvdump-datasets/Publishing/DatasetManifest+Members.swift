import EntityStore
import KVDumpCommands
import LodestoreDatasets
import LodestoreJSON

extension DatasetManifest {
  /// The manifest as lines for people and as an object for programs.
  var members: [(column: Column, cell: Cell)] {
    [
      ("name", .text(name)), ("generation", .unsigned(generation)),
      (Column("dataAsOf", title: "data as of"), date(dataAsOf)),
      (Column("builtAt", title: "built"), date(builtAt)),
      (Column("publishedAt", title: "published"), date(publishedAt)),
      (Column("keySet", title: "key set"), .integer(Int64(keySet))),
      ("records", .count(records.values.reduce(0, +))),
      ("size", .byteCount(Int(length))), ("verity", .text(digest.description)),
      ("content", .text(contentDigest)), ("schema", .text(schemaFingerprint)),
      ("file", .text(whole.path)), ("compressed", .byteCount(Int(whole.length))),
      ("patches", .json(patchText)), ("mirrors", .json(mirrorText)),
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
