/// One row of separated values.
public struct CSVRow: Sendable, Hashable {
  struct Field: Sendable, Hashable {
    /// Behind its last byte in `content`.
    var end: Int
    var isQuoted: Bool
  }

  /// The line on which the row begins, from 1.
  public let line: Int
  /// Bytes before the row, from the start of the text.
  public let byteOffset: Int
  /// The fields one behind the other, quotes undone.
  let content: [UInt8]
  let marks: [Field]

  /// How many fields there are.
  public var count: Int { marks.count }

  /// The fields as texts; an empty one is `""`, in quotes or not.
  public var fields: [String] {
    marks.indices.map { String(decoding: bytes(of: $0), as: UTF8.self) }
  }

  /// The field at a place; `nil` when it is null, and when there is none.
  public subscript(place: Int) -> String? {
    guard marks.indices.contains(place), !isNull(place) else { return nil }
    return String(decoding: bytes(of: place), as: UTF8.self)
  }

  /// Whether a field is empty without quotes.
  func isNull(_ place: Int) -> Bool { !marks[place].isQuoted && bytes(of: place).isEmpty }

  func bytes(of place: Int) -> ArraySlice<UInt8> {
    content[(place == 0 ? 0 : marks[place - 1].end)..<marks[place].end]
  }
}
