/// One row of separated values.
public struct CSVRow: Sendable, Hashable {
  struct Field: Sendable, Hashable {
    /// The offset in `content` after the field's last byte.
    var end: Int
    var isQuoted: Bool
    var isNull: Bool
  }

  /// The line on which the row begins, counted from 1.
  public let line: Int
  /// The byte offset of the row in the text.
  public let byteOffset: Int
  /// The fields one after another, without quotes and escapes.
  let content: [UInt8]
  let marks: [Field]

  /// The number of fields.
  public var count: Int { marks.count }

  /// The fields as texts.
  ///
  /// An empty field is `""`, whether quoted or not. A field that stands for null is its text.
  public var fields: [String] {
    marks.indices.map { String(decoding: bytes(of: $0), as: UTF8.self) }
  }

  /// The field of a column, counted from 0; `nil` when the field is null or does not exist.
  public subscript(index: Int) -> String? {
    guard marks.indices.contains(index), !isNull(index) else { return nil }
    return String(decoding: bytes(of: index), as: UTF8.self)
  }

  /// Returns whether a field is null: empty, or a text that stands for null, and not quoted.
  func isNull(_ index: Int) -> Bool { marks[index].isNull }

  func bytes(of index: Int) -> ArraySlice<UInt8> {
    content[(index == 0 ? 0 : marks[index - 1].end)..<marks[index].end]
  }
}
