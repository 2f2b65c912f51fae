internal import LodestoreFormat

/// The differences that the changes of a write make to one derived attribute, by record.
///
/// Counts and sums are changed by differences. A least or greatest value is recomputed from all
/// related records only when the record with this value may be gone.
final class DerivedTotals {
  let derivation: RelatedDerivation
  private let kind: DerivationDescription.Kind
  // Exclusivity is not checked, because only one thread accesses the object and the checks would
  // slow down each change.
  @exclusivity(unchecked) private var differences = Differences()

  /// The differences that are not written yet.
  struct Differences {
    fileprivate var items: [Difference] = []
    /// The positions in ``items``, by the ids of the records.
    fileprivate var positions: [UInt64: Int] = [:]
    /// The owner of the last difference and its position: a cache, because consecutive changes
    /// mostly concern one owner.
    private var last: (owner: UInt64, position: Int)?

    /// The records whose value may change, in no particular order.
    var ids: some Collection<UInt64> { positions.keys }

    /// Returns the position of a record's difference.
    @inline(__always)
    fileprivate mutating func position(of owner: UInt64) -> Int {
      if let last, last.owner == owner { return last.position }
      let position = found(owner)
      last = (owner, position)
      return position
    }

    private mutating func found(_ owner: UInt64) -> Int {
      if let known = positions[owner] { return known }
      positions[owner] = items.count
      items.append(Difference())
      return items.count - 1
    }

    /// Removes the difference of a record.
    fileprivate mutating func drop(_ owner: UInt64) {
      guard positions.removeValue(forKey: owner) != nil else { return }
      last = nil
    }
  }

  /// The difference between the stored value of one record's derived attribute and the new value.
  fileprivate struct Difference {
    var count: Int64 = 0
    var integer: Int128 = 0
    var double: Double = 0
    /// The largest magnitude of ``double`` so far.
    var largest: Double = 0
    var decimal = DecimalValue.zero
    /// The least or greatest added value.
    var added: Value = .null
    /// The least or greatest removed value.
    var removed: Value = .null
    /// Whether the value must be recomputed from all related records.
    var isUnknown = false
  }

  init(_ derivation: RelatedDerivation) {
    self.derivation = derivation
    kind = derivation.kind
  }

  var isEmpty: Bool { differences.positions.isEmpty }

  /// Requires that the value of record `owner` be recomputed from all related records.
  func forget(_ owner: UInt64) {
    differences.items[differences.position(of: owner)].isUnknown = true
  }

  /// Removes the difference of `owner`, whose value has since been recomputed from all related
  /// records.
  func drop(_ owner: UInt64) { differences.drop(owner) }

  /// Removes and returns all differences; later changes are collected separately.
  ///
  /// Writing the value of one record may change the value of another record, or of itself.
  func take() -> Differences {
    defer { differences = Differences() }
    return differences
  }

  /// Adds a related record with `value`.
  func add(_ value: Value, to owner: UInt64) throws(FormatError) { try change(owner, value, 1) }

  /// Removes a related record with `value`.
  func remove(_ value: Value, from owner: UInt64) throws(FormatError) {
    try change(owner, value, -1)
  }

  @inline(__always)
  private func change(_ owner: UInt64, _ value: Value, _ sign: Int64) throws(FormatError) {
    let position = differences.position(of: owner)
    switch kind {
    case .count: differences.items[position].count &+= sign
    case .sum: addToSum(value, sign, &differences.items[position])
    case .minimum, .maximum:
      if case .null = value { return }
      let value = value.asExtreme
      if sign > 0 {
        if try isBeyond(value, differences.items[position].added) {
          differences.items[position].added = value
        }
      } else if try isBeyond(value, differences.items[position].removed) {
        differences.items[position].removed = value
      }
    default: differences.items[position].isUnknown = true
    }
  }

  private func addToSum(_ value: Value, _ sign: Int64, _ current: inout Difference) {
    switch value {
    case .integer(let number): current.integer += Int128(number) * Int128(sign)
    case .unsigned(let number): current.integer += Int128(number) * Int128(sign)
    case .double(let number):
      current.double += Double(sign) * number
      current.largest = max(current.largest, current.double.magnitude)
      // With `Float` results, adding a difference to the rounded stored sum would not give the
      // rounded exact sum.
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

  /// Returns whether `a` replaces `b`, which may be null, as the least or greatest value.
  private func isBeyond(_ a: Value, _ b: Value) throws(FormatError) -> Bool {
    if case .null = b { return true }
    return kind == .minimum ? try a.isLess(than: b) : try b.isLess(than: a)
  }

  /// Computes the value of record `owner` from its old value and the differences.
  ///
  /// Returns `nil` when the value must be recomputed from all related records.
  func value(
    of owner: UInt64, from old: Value, by differences: borrowing Differences
  ) throws -> Value? {
    guard let position = differences.positions[owner] else { return old }
    let difference = differences.items[position]
    guard !difference.isUnknown else { return nil }
    switch (derivation.kind, old) {
    case (.count, .integer(let count)): return .integer(count &+ difference.count)
    case (.sum, .integer(let sum)): return try integer(Int128(sum) + difference.integer, owner)
    case (.sum, .unsigned(let sum)): return try integer(Int128(sum) + difference.integer, owner)
    case (.sum, .double(let sum)):
      let new = sum + difference.double
      // When the sum becomes much smaller than the numbers added and removed, digits are lost, so
      // it is recomputed from the records. See Format.md.
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
}
