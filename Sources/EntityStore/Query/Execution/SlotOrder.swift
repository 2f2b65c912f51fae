internal import LodestoreFormat

/// An order by one number, date or Boolean: what records are compared by is read from its slot as a
/// word, without a view of the record.
final class SlotOrder {
  /// Whether records without a value come first.
  let isNullFirst: Bool
  let isTieDescending: Bool
  private let attribute: BoundAttribute
  private let isDescending: Bool
  private let entity: StoredEntity
  /// In the layout that records are written in now; `nil` when it has no such slot.
  private let slot: WordSlot?
  private let layoutNumber: UInt16
  private let shortestRecord: Int

  /// `nil` for any other order.
  init?(_ order: BoundOrder, _ entity: StoredEntity) {
    guard let term = order.terms.first, !term.attribute.isRecordID, term.steps.isEmpty,
      term.options.isEmpty, WordSlot.Kind(term.attribute.type) != nil,
      order.terms.dropFirst().allSatisfy(\.attribute.isRecordID)
    else { return nil }
    attribute = term.attribute
    isDescending = term.isDescending
    isNullFirst = term.isNullFirst
    isTieDescending = order.isTieDescending
    self.entity = entity
    let layout = entity.layout
    slot = layout.placeIndex(ofAttribute: attribute.number).flatMap { WordSlot(layout.places[$0]) }
    layoutNumber = layout.number
    shortestRecord =
      layout.endsOffset + layout.variableCount * 2 + RecordLayout.checksumSize
  }

  /// What a record is compared by, smaller first; `nil` when it has no value.
  @inline(__always)
  func word(_ bytes: UnsafeRawBufferPointer, _ id: UInt64) throws(StoreError) -> UInt64? {
    guard let slot, let base = bytes.baseAddress, bytes.count >= shortestRecord,
      bytes.uint16(at: 0) == layoutNumber
    else { return try otherWord(bytes, id) }
    guard let word = slot.word(base) else { return nil }
    return isDescending ? ~word : word
  }

  /// Of a record that has another layout or is long, or breaks the format.
  @inline(never)
  private func otherWord(
    _ bytes: UnsafeRawBufferPointer, _ id: UInt64
  ) throws(StoreError) -> UInt64? {
    let view = try entity.view(bytes, id: id)
    let word: UInt64? =
      if let place = view.layout.placeIndex(ofAttribute: attribute.number) {
        bytes.baseAddress.flatMap { WordSlot(view.layout.places[place])?.word($0) }
      } else {
        WordSlot.word(attribute.initial, attribute.type)
      }
    return word.map { isDescending ? ~$0 : $0 }
  }
}

/// Where a number is in records of one layout, read as a word that is ordered as the numbers are.
///
/// There is one not-a-number, behind all others, and one zero, as in index keys.
struct WordSlot {
  enum Kind {
    case bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float, double

    init?(_ type: AttributeType) {
      switch type {
      case .bool: self = .bool
      case .int8: self = .int8
      case .int16: self = .int16
      case .int32: self = .int32
      case .int64: self = .int64
      case .uint8: self = .uint8
      case .uint16: self = .uint16
      case .uint32: self = .uint32
      case .uint64: self = .uint64
      case .float: self = .float
      case .double, .date: self = .double
      default: return nil
      }
    }
  }

  private let kind: Kind
  private let offset: Int
  /// Where the null bit is; −1 when there is none.
  private let nullByte: Int
  private let nullMask: UInt8

  init?(_ place: RecordLayout.Place) {
    guard let kind = Kind(place.type) else { return nil }
    self.kind = kind
    offset = Int(place.position)
    let bit = Int(place.nullBit)
    nullByte = bit < 0 ? -1 : RecordLayout.headerSize + bit >> 3
    nullMask = bit < 0 ? 0 : 1 << UInt8(bit & 7)
  }

  /// The word of a record that has at least the fixed part of its layout; `nil` for null.
  @inline(__always)
  func word(_ base: UnsafeRawPointer) -> UInt64? {
    if nullByte >= 0, base.load(fromByteOffset: nullByte, as: UInt8.self) & nullMask != 0 {
      return nil
    }
    let slot = base + offset
    return switch kind {
    case .bool: slot.load(as: UInt8.self) == 0 ? 0 : 1
    case .int8: Self.word(Int64(slot.load(as: Int8.self)))
    case .int16: Self.word(Int64(Int16(littleEndian: slot.loadUnaligned(as: Int16.self))))
    case .int32: Self.word(Int64(Int32(littleEndian: slot.loadUnaligned(as: Int32.self))))
    case .int64: Self.word(Int64(littleEndian: slot.loadUnaligned(as: Int64.self)))
    case .uint8: Self.word(Int64(slot.load(as: UInt8.self)))
    case .uint16: Self.word(Int64(UInt16(littleEndian: slot.loadUnaligned(as: UInt16.self))))
    case .uint32: Self.word(Int64(UInt32(littleEndian: slot.loadUnaligned(as: UInt32.self))))
    case .uint64: UInt64(littleEndian: slot.loadUnaligned(as: UInt64.self))
    case .float:
      Self.word(
        Double(Float(bitPattern: UInt32(littleEndian: slot.loadUnaligned(as: UInt32.self)))))
    case .double:
      Self.word(Double(bitPattern: UInt64(littleEndian: slot.loadUnaligned(as: UInt64.self))))
    }
  }

  /// The word of a value that no record need hold, in an attribute of `type`; `nil` for null.
  static func word(_ value: Value, _ type: AttributeType) -> UInt64? {
    switch value {
    case .bool(let flag): flag ? 1 : 0
    case .integer(let number): type == .uint64 ? UInt64(bitPattern: number) : word(number)
    case .unsigned(let number): number
    case .double(let number), .date(let number): word(number)
    default: nil
    }
  }

  @inline(__always)
  private static func word(_ number: Int64) -> UInt64 { UInt64(bitPattern: number) ^ 1 << 63 }

  @inline(__always)
  private static func word(_ number: Double) -> UInt64 {
    let bits: UInt64 =
      if number.isNaN { 0x7ff8_0000_0000_0000 } else if number == 0 { 0 } else { number.bitPattern }
    let sign = UInt64(bitPattern: Int64(bitPattern: bits) &>> 63)
    return bits ^ (sign | 1 << 63)
  }
}
