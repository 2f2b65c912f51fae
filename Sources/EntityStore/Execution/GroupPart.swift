internal import LodestoreBytes
internal import LodestoreFormat

/// The totals of all or some records of a group.
///
/// A group may be written to a scratch file several times, each time with some of its records.
struct GroupPart {
  /// The number of records.
  var count: Int
  /// The totals, one for each term.
  var totals: [GroupTotal]
  /// The values of the grouping; empty if the key contains them.
  var values: [Value]

  /// Adds the totals of other records of the group.
  mutating func merge(_ other: GroupPart, _ functions: [GroupTerm.Function]) throws {
    count += other.count
    for (index, function) in functions.enumerated() {
      try totals[index].merge(other.totals[index], function)
    }
  }

  /// Writes a part as a sequence of document values, for ``init(reading:termCount:)``.
  static func write(
    count: Int, _ totals: some Collection<GroupTotal>, _ values: some Collection<Value>,
    to writer: inout DocumentWriter
  ) {
    writer.write(Int64(count))
    for total in totals { total.write(to: &writer) }
    for value in values { value.write(to: &writer) }
  }

  /// Reads a part that extends to the end of `reader`.
  init(reading reader: inout DocumentReader, termCount: Int) throws {
    count = Int(try reader.int64())
    (totals, values) = ([], [])
    totals.reserveCapacity(termCount)
    for _ in 0..<termCount { totals.append(try GroupTotal(reading: &reader)) }
    while !reader.isAtEnd { values.append(try Value(reading: &reader)) }
  }
}

extension Value {
  /// Writes the value so that ``init(reading:)`` can read the same value back.
  func write(to writer: inout DocumentWriter) {
    switch self {
    case .null: writer.writeNull()
    case .bool(let flag): writer.write(flag)
    case .integer(let number): writer.write(number)
    case .unsigned(let number): writer.write(number)
    case .double(let number): writer.write(number)
    case .date(let seconds): writer.write(date: seconds)
    case .uuid(let uuid): writer.write(uuid)
    case .decimal(let decimal): writer.write(decimal)
    case .string(let text): writer.write(text)
    case .data(let bytes): bytes._withBytes { writer.write(data: $0) }
    case .document(let bytes):
      // The bytes of a document are written in an array, to distinguish them from data.
      let token = writer.beginArray()
      bytes._withBytes { writer.write(data: $0) }
      writer.endArray(token, count: 1)
    }
  }

  init(reading reader: inout DocumentReader) throws(FormatError) {
    if let scalar = try reader.scalar() {
      self = scalar
    } else {
      _ = try reader.enterArray()
      self = .document(Array(try reader.data()))
    }
  }

  /// The memory that the value takes in addition to its own size, in bytes.
  var heldByteCount: Int {
    switch self {
    case .string(let text): text.utf8.count
    case .data(let bytes), .document(let bytes): bytes.count
    default: 0
    }
  }
}
