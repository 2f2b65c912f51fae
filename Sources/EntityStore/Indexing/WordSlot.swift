internal import LodestoreBytes
internal import LodestoreFormat

/// The slot of a number in records of one layout, read as a word that is ordered like the numbers.
///
/// As in index keys, there is one not-a-number, above all numbers, and one zero.
struct WordSlot {
  enum Kind {
    case bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float, double, date

    init?(_ type: AttributeType) {
      switch type {
      case .bool: self = .bool
      case .int8: self = .int8
      case .int16: self = .int16
      case .int32: self = .int32
      // Ids are below 2^63, so they are the same as signed numbers.
      case .int64, .recordID: self = .int64
      case .uint8: self = .uint8
      case .uint16: self = .uint16
      case .uint32: self = .uint32
      case .uint64: self = .uint64
      case .float: self = .float
      case .double: self = .double
      case .date: self = .date
      default: return nil
      }
    }
  }

  private let kind: Kind
  private let offset: Int
  private let nullBit: NullBit

  init?(_ slot: RecordLayout.Slot) {
    guard let kind = Kind(slot.type) else { return nil }
    self.kind = kind
    offset = Int(slot.position)
    nullBit = NullBit(of: slot)
  }

  /// A slot for ids that are in no record, whose words are the ids themselves.
  static let ids = WordSlot()

  private init() {
    kind = .uint64
    offset = 0
    nullBit = NullBit()
  }

  /// Returns the word of a record, or `nil` for null.
  ///
  /// `record` must have at least the fixed part of its layout.
  @inline(__always)
  func word(_ record: ByteView) -> UInt64? {
    if nullBit.isSet(in: record) { return nil }
    return switch kind {
    case .bool: record[offset] == 0 ? 0 : 1
    case .int8: OrderedWord.word(Int64(Int8(bitPattern: record[offset])))
    case .int16: OrderedWord.word(Int64(Int16(bitPattern: record.uint16(at: offset))))
    case .int32: OrderedWord.word(Int64(Int32(bitPattern: record.uint32(at: offset))))
    case .int64: OrderedWord.word(Int64(bitPattern: record.uint64(at: offset)))
    case .uint8: OrderedWord.word(Int64(record[offset]))
    case .uint16: OrderedWord.word(Int64(record.uint16(at: offset)))
    case .uint32: OrderedWord.word(Int64(record.uint32(at: offset)))
    case .uint64: record.uint64(at: offset)
    case .float: OrderedWord.word(Double(Float(bitPattern: record.uint32(at: offset))))
    case .double, .date: OrderedWord.word(Double(bitPattern: record.uint64(at: offset)))
    }
  }

  /// Returns the word of a value of an attribute of `type`, or `nil` for null.
  static func word(_ value: Value, _ type: AttributeType) -> UInt64? {
    switch value {
    case .bool(let flag): flag ? 1 : 0
    case .integer(let number):
      type == .uint64 ? UInt64(bitPattern: number) : OrderedWord.word(number)
    case .unsigned(let number): number
    case .double(let number), .date(let number): OrderedWord.word(number)
    default: nil
    }
  }

  /// Encodes the index key of the number with this word, followed by the record id if given.
  @inline(__always)
  func makeKey(_ word: UInt64, recordID: UInt64?, in key: inout KeyEncoder) {
    switch kind {
    case .float, .double: key.begin(withOrdered: word, isDate: false, recordID: recordID)
    case .date: key.begin(withOrdered: word, isDate: true, recordID: recordID)
    case .bool, .uint64, .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32:
      key.reset()
      append(word, to: &key)
      if let recordID { key.append(recordID: recordID) }
    }
  }

  /// Encodes the index keys of numbers in one buffer, each followed by its record id if given, and
  /// stores their end offsets in `ends`.
  func makeKeys(
    _ words: UnsafeBufferPointer<UInt64>, recordIDs: UnsafePointer<UInt64>?,
    in keys: inout KeyEncoder, ends: UnsafeMutablePointer<Int>
  ) {
    keys.reset()
    switch kind {
    case .float, .double, .date:
      keys.append(
        keysOfOrdered: words, isDate: kind == .date, recordIDs: recordIDs, ends: ends)
    case .bool, .uint64, .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32:
      for index in words.indices {
        append(words[index], to: &keys)
        if let recordIDs { keys.append(recordID: recordIDs[index]) }
        ends[index] = keys.count
      }
    }
  }

  private func append(_ word: UInt64, to key: inout KeyEncoder) {
    switch kind {
    case .bool: key.append(word != 0)
    case .uint64: key.append(word)
    default: key.append(OrderedWord.integer(word))
    }
  }
}
