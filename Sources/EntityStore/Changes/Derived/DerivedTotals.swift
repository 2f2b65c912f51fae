internal import LodestoreFormat

/// What the changes of a write make of one derived attribute, by the records that have it.
///
/// Counts and sums are changed by differences; a least or greatest value is worked out anew only where the
/// one that was it may have gone.
final class DerivedTotals {
  let derivation: RelatedDerivation
  private let kind: DerivationDescription.Kind
  // Used by one thread; exclusivity checks would slow down each change.
  @exclusivity(unchecked) private var differences: [Difference] = []
  /// By the ids of the records, positions in ``differences``.
  @exclusivity(unchecked) private var positions: [UInt64: Int] = [:]
  /// Consecutive changes are mostly of one record.
  @exclusivity(unchecked) private var last: (owner: UInt64, position: Int)?

  /// The difference to what one record has stored.
  private struct Difference {
    var count: Int64 = 0
    var integer: Int128 = 0
    var double: Double = 0
    /// The largest magnitude that ``double`` has had.
    var largest: Double = 0
    var decimal = DecimalValue.zero
    /// The least or greatest of what came, and of what went.
    var added: Value = .null
    var removed: Value = .null
    /// Whether it must be worked out from all related records.
    var isUnknown = false
  }

  init(_ derivation: RelatedDerivation) {
    self.derivation = derivation
    kind = derivation.kind
  }

  var isEmpty: Bool { differences.isEmpty }

  /// The records that may have another value, in no order.
  var ids: some Collection<UInt64> { positions.keys }

  /// The position of the difference of a record.
  @inline(__always)
  private func position(of owner: UInt64) -> Int {
    if let last, last.owner == owner { return last.position }
    let position = found(owner)
    last = (owner, position)
    return position
  }

  private func found(_ owner: UInt64) -> Int {
    if let known = positions[owner] { return known }
    positions[owner] = differences.count
    differences.append(Difference())
    return differences.count - 1
  }

  /// Has the value of record `owner` worked out from all related records.
  func forget(_ owner: UInt64) {
    differences[position(of: owner)].isUnknown = true
  }

  /// A related record with `value` came.
  func add(_ value: Value, to owner: UInt64) throws(FormatError) { try change(owner, value, 1) }

  /// A related record with `value` went.
  func remove(_ value: Value, from owner: UInt64) throws(FormatError) {
    try change(owner, value, -1)
  }

  @inline(__always)
  private func change(_ owner: UInt64, _ value: Value, _ sign: Int64) throws(FormatError) {
    let position = position(of: owner)
    switch kind {
    case .count: differences[position].count &+= sign
    case .sum: addToSum(value, sign, &differences[position])
    case .minimum, .maximum:
      if case .null = value { return }
      if sign > 0 {
        if try isBeyond(value, differences[position].added) { differences[position].added = value }
      } else if try isBeyond(value, differences[position].removed) {
        differences[position].removed = value
      }
    default: differences[position].isUnknown = true
    }
  }

  private func addToSum(_ value: Value, _ sign: Int64, _ current: inout Difference) {
    switch value {
    case .integer(let number): current.integer += Int128(number) * Int128(sign)
    case .unsigned(let number): current.integer += Int128(number) * Int128(sign)
    case .double(let number):
      current.double += Double(sign) * number
      current.largest = max(current.largest, current.double.magnitude)
      // The sum of rounded values is not the rounded sum.
      if derivation.type == .float || !number.isFinite { current.isUnknown = true }
    case .decimal(let number):
      if let sum = current.decimal.adding(sign > 0 ? number : number.negated), sum != .nan {
        current.decimal = sum
      } else {
        current.isUnknown = true
      }
    default: break
    }
  }

  /// Whether `a` counts in place of `b`, which may be null.
  private func isBeyond(_ a: Value, _ b: Value) throws(FormatError) -> Bool {
    if case .null = b { return true }
    return kind == .minimum ? try a.precedes(b) : try b.precedes(a)
  }

  /// What record `owner` is to have instead of `old`, as far as the differences tell; `nil` where it must
  /// be worked out anew.
  func value(of owner: UInt64, from old: Value) throws -> Value? {
    guard let position = positions[owner] else { return old }
    let difference = differences[position]
    guard !difference.isUnknown else { return nil }
    switch (derivation.kind, old) {
    case (.count, .integer(let count)): return .integer(count &+ difference.count)
    case (.sum, .integer(let sum)): return try integer(Int128(sum) + difference.integer, owner)
    case (.sum, .unsigned(let sum)): return try integer(Int128(sum) + difference.integer, owner)
    case (.sum, .double(let sum)):
      let new = sum + difference.double
      // Digits are lost where the sum becomes smaller than what it was made of. See Format.md.
      guard new.isFinite, new.exponent >= max(sum.magnitude, difference.largest).exponent else {
        return nil
      }
      return .double(new)
    case (.sum, .decimal(let sum)):
      return sum.adding(difference.decimal).flatMap { $0 == .nan ? nil : .decimal($0) }
    case (.minimum, _), (.maximum, _):
      if difference.removed != .null, try old == .null || !isBeyond(old, difference.removed) {
        return nil
      }
      if difference.added == .null { return old }
      return try isBeyond(difference.added, old) ? difference.added : old
    default: return nil
    }
  }

  private func integer(_ sum: Int128, _ owner: UInt64) throws -> Value {
    let value: Value?
    if let number = Int64(exactly: sum) {
      value = .integer(number)
    } else {
      value = UInt64(exactly: sum).map { .unsigned($0) }
    }
    guard let value, value.fits(derivation.type) else {
      throw StoreError.unfittingTotal(derivation, owner)
    }
    return value
  }

  /// Forgets all differences, which have been applied.
  func removeAll() {
    differences.removeAll(keepingCapacity: true)
    positions.removeAll(keepingCapacity: true)
    last = nil
  }
}
