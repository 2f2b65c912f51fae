import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore
@testable import LMDB

/// The table of the article "Limits", compared with the constants of the code.
@Suite struct LimitTableTests {
  private struct Row {
    var what: String
    var limit: String
    var code: String
  }

  private static func rows() throws -> [Row] {
    let article = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../Sources/EntityStore/EntityStore.docc/Limits.md").standardized
    let text = try String(contentsOf: article, encoding: .utf8)
    let table = text.components(separatedBy: "| --- | --- | --- |\n")[1]
    return table.split(separator: "\n", omittingEmptySubsequences: false)
      .prefix { $0.hasPrefix("|") }
      .map { line in
        let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        return Row(what: cells[0], limit: cells[1], code: cells[2].filter { $0 != "`" })
      }
  }

  /// The beginning of a table row, the limit in the code, and the code of the error.
  private static let constants: [(what: String, limit: Int, code: StoreError.Code?)] = [
    ("trees of a file", StoredSchema.treeLimit, .incompatibleSchema),
    ("attributes of an entity", DeclaredEntity.mostAttributes, .badSchema),
    (
      "attributes that an entity has ever had", Int(EntityDescription.highestAttributeNumber),
      .incompatibleSchema
    ),
    ("indexes of an entity", DeclaredEntity.mostIndexes, .badSchema),
    ("bytes of the name of an entity", EntityDescription.longestName, .badSchema),
    ("layouts of an entity", Int(RecordLayout.highestNumber), .incompatibleSchema),
    (
      "bytes of a record, `recordSizeLimitInBytes`", StoreOptions().recordSizeLimitInBytes,
      .unstorableValue
    ),
    ("bytes of a record, at most", WritingCursor.largestValue, .unstorableValue),
    ("bytes of a tuple in an index key", KeyEncoder.longestTuple, nil),
    ("levels of nesting of a document", Document.deepestNesting, .unstorableValue),
    ("bytes of the name of a bucket", BucketKey.longestName, .unstorableValue),
    ("bytes of a key in a bucket", BucketKey.longestKey, .unstorableValue),
    ("bytes of the name of a consumer", HistoryKey.longestConsumerName, .invalidQuery),
    ("bytes of the name of an import", ImportKey.longestName, .importStopped),
    ("bytes of a page", JSONLimits.standard.bytes, .importStopped),
    ("values and keys of a page", JSONLimits.standard.values, .importStopped),
    ("records that a group", ImportOptions().groupRecordLimit, nil),
    ("rejects that a report", ImportReport.longestRejectList, nil),
    ("links to records that come later", PendingLink.most, nil),
    ("bytes of a format string", FormatLimits().bytes, .invalidQuery),
    ("conditions, operands and steps", FormatLimits().nodes, .invalidQuery),
    ("levels of nesting of a format string", FormatLimits().depth, .invalidQuery),
    ("levels of nesting of a condition", Condition<Film>.deepestNesting, .invalidQuery),
    ("SUBQUERYs", ConditionBinding.deepestSubquery, .invalidQuery),
    ("bytes of a pattern of LIKE", LikePattern.longest, .invalidQuery),
    ("bytes of a regular expression", ExpressionParser.longestPattern, .invalidQuery),
    ("reads of all processes", Int(EnvironmentOptions().readerSlotCount), .busy),
    (
      "bytes of a file, `fileSizeLimitInBytes`", StoreOptions().fileSizeLimitInBytes, .mapFull
    ),
    ("bytes of the file's name", 255 - "-lock".utf8.count, .unsuitablePath),
    ("rounds of changes", ChangeSinks.largestRoundCount, .endlessChanges),
  ]

  @Test func `the table of limits agrees with the constants`() throws {
    let rows = try Self.rows()
    #expect(rows.count == Self.constants.count)
    for (row, constant) in zip(rows, Self.constants) {
      #expect(row.what.hasPrefix(constant.what), "\(row.what)")
      #expect(Int(row.limit.filter { $0 != "," }) == constant.limit, "\(row.what): \(row.limit)")
      #expect(row.code == constant.code?.description ?? "none", "\(row.what)")
    }
    // LMDB can open this many trees, including the trees that every store has.
    #expect(StoredSchema.treeLimit + 50 < Int(EnvironmentOptions().treeCount))
  }
}
