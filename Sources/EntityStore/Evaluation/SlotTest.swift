internal import LodestoreBytes
internal import LodestoreFormat

/// A test of one fixed-width slot: its ``OrderedNumber`` lies between two bounds.
///
/// All comparisons of a number, a date or a Boolean with constants have this form. A scan runs
/// these tests before it reads anything else of a record.
struct SlotTest {
  private let low: Int64
  private let high: Int64
  private let offset: Int32
  private let nullBit: NullBit
  private let kind: WordSlot.Kind
  private let isNegated: Bool

  /// Creates the test; `nil` if the attribute's slot holds no number.
  init?(_ slot: RecordLayout.Slot, _ interval: NumberInterval, isNegated: Bool) {
    guard let kind = WordSlot.Kind(slot.type) else { return nil }
    self.kind = kind
    low = interval.low
    high = interval.high
    offset = slot.position
    nullBit = NullBit(of: slot)
    self.isNegated = isNegated
  }

  /// Returns whether a record passes.
  ///
  /// `record` must have at least the fixed part of its layout.
  @inline(__always)
  func admits(_ record: ByteView) -> Bool {
    if nullBit.isSet(in: record) { return isNegated }
    let key = kind.key(record, at: Int(offset))
    return (key >= low && key <= high) != isNegated
  }
}

extension RecordView {
  /// Returns the ``OrderedNumber`` of a fixed-width attribute that is not null.
  func orderedNumber(at slot: RecordLayout.Slot) throws(FormatError) -> Int64 {
    switch try value(at: slot) {
    case .bool(let flag): flag ? 1 : 0
    case .integer(let number):
      slot.type == .uint64 ? OrderedNumber.key(UInt64(bitPattern: number)) : number
    case .unsigned(let number): OrderedNumber.key(number)
    case .double(let number), .date(let number): OrderedNumber.key(number)
    default: 0
    }
  }
}
