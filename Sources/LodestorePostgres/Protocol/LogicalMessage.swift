internal import LodestoreBytes

/// A message of the output plug-in `pgoutput` in version 1 of its protocol.
///
/// Version 2 adds parts of running transactions, which the source does not ask for.
enum LogicalMessage: Sendable, Equatable {
  /// The beginning of a transaction; the position is that of its commit.
  case begin(commit: LogPosition, microseconds: Int64, transaction: UInt32)
  /// The end of a transaction; `end` is the position after its commit.
  case commit(commit: LogPosition, end: LogPosition, microseconds: Int64)
  case origin(String)
  case relation(Relation)
  case type(id: UInt32, schema: String, name: String)
  case insert(relation: UInt32, Tuple)
  case update(relation: UInt32, old: OldTuple?, new: Tuple)
  case delete(relation: UInt32, old: OldTuple)
  case truncate(relations: [UInt32])
  /// A message that a program wrote into the log.
  case message

  /// The columns by which a server identifies the old row of an update or a delete.
  enum Identity: UInt8, Sendable {
    case key = 0x64
    case nothing = 0x6E
    case full = 0x66
    case index = 0x69
  }

  /// A table as the server sent it before the first change of the table in a connection, and after
  /// each alteration.
  struct Relation: Sendable, Equatable {
    var id: UInt32
    var schema: String
    var name: String
    var identity: Identity
    var columns: [Column]
  }

  struct Column: Sendable, Equatable {
    var isKey: Bool
    var name: String
    var type: UInt32
    var modifier: Int32
  }

  /// The old values of a row.
  enum OldTuple: Sendable, Equatable {
    /// The values of the key; other columns are null.
    case key(Tuple)
    case full(Tuple)

    var tuple: Tuple {
      switch self {
      case .key(let tuple), .full(let tuple): tuple
      }
    }
  }

  /// The values of a row.
  struct Tuple: Sendable, Equatable {
    enum Field: Sendable, Equatable {
      case null
      /// A large value that the update did not change, and that the server did not send.
      case unchanged
      case text(Range<Int>)
      case binary(Range<Int>)
    }

    var fields: [Field]
    /// The bytes of all fields.
    var bytes: [UInt8]
  }

  init(_ bytes: ByteView) throws(PostgresError) {
    var reader = MessageReader(bytes, "a message of pgoutput")
    switch try reader.byte() {
    case UInt8(ascii: "B"):
      self = .begin(
        commit: try reader.position(), microseconds: try reader.int64(),
        transaction: try reader.uint32())
    case UInt8(ascii: "C"):
      _ = try reader.byte()
      self = .commit(
        commit: try reader.position(), end: try reader.position(),
        microseconds: try reader.int64())
    case UInt8(ascii: "O"):
      _ = try reader.position()
      self = .origin(try reader.text())
    case UInt8(ascii: "R"): self = .relation(try Relation(&reader))
    case UInt8(ascii: "Y"):
      self = .type(
        id: try reader.uint32(), schema: try reader.text(), name: try reader.text())
    case UInt8(ascii: "I"):
      let relation = try reader.uint32()
      guard try reader.byte() == UInt8(ascii: "N") else { throw reader.failure("has no new row") }
      self = .insert(relation: relation, try Tuple(&reader))
    case UInt8(ascii: "U"): self = try Self.update(&reader)
    case UInt8(ascii: "D"):
      let relation = try reader.uint32()
      let kind = try reader.byte()
      self = .delete(relation: relation, old: try OldTuple(kind, &reader))
    case UInt8(ascii: "T"):
      let count = Int(try reader.uint32())
      _ = try reader.byte()
      guard count <= reader.remaining / 4 else { throw reader.failure("names \(count) tables") }
      var relations: [UInt32] = []
      for _ in 0..<count { relations.append(try reader.uint32()) }
      self = .truncate(relations: relations)
    case UInt8(ascii: "M"):
      _ = reader.rest()
      self = .message
    case let kind: throw reader.failure("has the unknown kind \(kind)")
    }
    try reader.end()
  }

  private static func update(_ reader: inout MessageReader) throws(PostgresError) -> Self {
    let relation = try reader.uint32()
    var kind = try reader.byte()
    var old: OldTuple?
    if kind != UInt8(ascii: "N") {
      old = try OldTuple(kind, &reader)
      kind = try reader.byte()
    }
    guard kind == UInt8(ascii: "N") else { throw reader.failure("has no new row") }
    return .update(relation: relation, old: old, new: try Tuple(&reader))
  }
}

extension LogicalMessage.Relation {
  fileprivate init(_ reader: inout MessageReader) throws(PostgresError) {
    id = try reader.uint32()
    schema = try reader.text()
    // The server sends no text for its own schema.
    if schema.isEmpty { schema = "pg_catalog" }
    name = try reader.text()
    let code = try reader.byte()
    guard let identity = LogicalMessage.Identity(rawValue: code) else {
      throw reader.failure("has the unknown replica identity \(code)")
    }
    self.identity = identity
    columns = []
    let count = try reader.int16()
    guard count >= 0 else { throw reader.failure("has \(count) columns") }
    for _ in 0..<count {
      columns.append(
        LogicalMessage.Column(
          isKey: try reader.byte() & 1 == 1, name: try reader.text(), type: try reader.uint32(),
          modifier: try reader.int32()))
    }
  }
}

extension LogicalMessage.OldTuple {
  fileprivate init(_ kind: UInt8, _ reader: inout MessageReader) throws(PostgresError) {
    switch kind {
    case UInt8(ascii: "K"): self = .key(try LogicalMessage.Tuple(&reader))
    case UInt8(ascii: "O"): self = .full(try LogicalMessage.Tuple(&reader))
    default: throw reader.failure("has an old row of the unknown kind \(kind)")
    }
  }
}

extension LogicalMessage.Tuple {
  fileprivate init(_ reader: inout MessageReader) throws(PostgresError) {
    let count = Int(try reader.int16())
    guard count >= 0 else { throw reader.failure("has a row of \(count) columns") }
    fields = []
    bytes = []
    fields.reserveCapacity(count)
    bytes.reserveCapacity(reader.remaining)
    for _ in 0..<count {
      let kind = try reader.byte()
      switch kind {
      case UInt8(ascii: "n"): fields.append(.null)
      case UInt8(ascii: "u"): fields.append(.unchanged)
      case UInt8(ascii: "t"), UInt8(ascii: "b"):
        let value = try reader.view(Int(try reader.int32()))
        let range = bytes.count..<bytes.count + value.count
        bytes.append(contentsOf: value)
        fields.append(kind == UInt8(ascii: "t") ? .text(range) : .binary(range))
      default: throw reader.failure("has a value of the unknown kind \(kind)")
      }
    }
  }
}
