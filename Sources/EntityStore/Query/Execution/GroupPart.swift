internal import LodestoreBytes
internal import LodestoreFormat

/// What is known of a group: of all its records, or of some, as those of one run in a file.
struct GroupPart {
  /// How many records there are.
  var count: Int
  /// One for each term.
  var totals: [GroupTotal]
  /// The values of the grouping; empty where the key tells them.
  var values: [Value]

  /// Adds what is known of other records of the group.
  mutating func merge(_ other: GroupPart, _ functions: [GroupTerm.Function]) throws {
    count += other.count
    for (index, function) in functions.enumerated() {
      try totals[index].merge(other.totals[index], function)
    }
  }

  /// Writes one as a sequence of document values, for ``init(reading:termCount:)``.
  static func write(
    count: Int, _ totals: some Collection<GroupTotal>, _ values: some Collection<Value>,
    to writer: inout DocumentWriter
  ) {
    writer.write(Int64(count))
    for total in totals { total.write(to: &writer) }
    for value in values { value.write(to: &writer) }
  }

  /// Reads one that ends where `reader` does.
  init(reading reader: inout DocumentReader, termCount: Int) throws {
    count = Int(try reader.int64())
    (totals, values) = ([], [])
    totals.reserveCapacity(termCount)
    for _ in 0..<termCount { totals.append(try GroupTotal(reading: &reader)) }
    while !reader.isAtEnd { values.append(try Value(reading: &reader)) }
  }
}

extension Value {
  /// Writes a document value from which ``init(reading:)`` makes the same again.
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
      // In an array, to tell it from data.
      let token = writer.beginArray()
      bytes._withBytes { writer.write(data: $0) }
      writer.endArray(token, count: 1)
    }
  }

  init(reading reader: inout DocumentReader) throws(FormatError) {
    switch try reader.kind() {
    case .null, .object:
      try reader.skip()
      self = .null
    case .bool: self = .bool(try reader.bool())
    case .integer: self = .integer(try reader.int64())
    case .unsigned: self = .integer(unsigned: try reader.uint64())
    case .double: self = .double(try reader.double())
    case .text: self = .string(try reader.string())
    case .data: self = .data(Array(try reader.data()))
    case .date: self = .date(try reader.date())
    case .uuid: self = .uuid(try reader.uuid())
    case .decimal: self = .decimal(try reader.decimal())
    case .array:
      _ = try reader.enterArray()
      self = .document(Array(try reader.data()))
    }
  }

  /// What it takes beside its own size, in bytes.
  var heldByteCount: Int {
    switch self {
    case .string(let text): text.utf8.count
    case .data(let bytes), .document(let bytes): bytes.count
    default: 0
    }
  }
}
