/// One row of separated values.
public struct CSVRow: Sendable, Hashable {
  struct Field: Sendable, Hashable {
    /// The offset after its last byte in `content`.
    var end: Int
    var isQuoted: Bool
    var isNull: Bool
  }

  /// The line on which the row begins, from 1.
  public let line: Int
  /// Bytes before the row, from the start of the text.
  public let byteOffset: Int
  /// The fields one after another, quotes undone.
  let content: [UInt8]
  let marks: [Field]

  /// How many fields there are.
  public var count: Int { marks.count }

  /// The fields as texts; an empty one is `""`, in quotes or not, and one that means null its text.
  public var fields: [String] {
    marks.indices.map { String(decoding: bytes(of: $0), as: UTF8.self) }
  }

  /// The field of a column, from 0; `nil` when it is null, and when there is none.
  public subscript(index: Int) -> String? {
    guard marks.indices.contains(index), !isNull(index) else { return nil }
    return String(decoding: bytes(of: index), as: UTF8.self)
  }

  /// Whether a field is empty without quotes, or one of the texts that mean null.
  func isNull(_ index: Int) -> Bool { marks[index].isNull }

  func bytes(of index: Int) -> ArraySlice<UInt8> {
    content[(index == 0 ? 0 : marks[index - 1].end)..<marks[index].end]
  }
}
