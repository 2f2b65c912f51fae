internal import LodestoreFormat

/// The values of a stored record whose derived attributes are computed again.
///
/// Other attributes cannot be set. The rules of the record are therefore checked later:
/// - A write sets only attributes derived from related records. ``LateRules`` checks the rules that
///   read them at the end of the write. The other rules of the entity read no such attribute.
/// - An opening may set each derived attribute. ``OpeningRules`` checks all rules at its end.
struct DerivedValues {
  /// All values, in the order of the current layout.
  private(set) var values: [Value]
  private let before: [Value]
  private let derivations: RecordDerivations
  private let occasion: RecordDerivations.Occasion

  /// - Parameter occasion: ``RecordDerivations/Occasion/related`` in a write.
  init(
    of record: StoredRecord, _ changes: EntityChanges, _ derivations: RecordDerivations,
    _ occasion: RecordDerivations.Occasion
  ) throws(StoreError) {
    before = try changes.values(of: record)
    values = before
    self.derivations = derivations
    self.occasion = occasion
  }

  /// The value at a position of the current layout.
  subscript(position: Int) -> Value {
    get { values[position] }
    set {
      precondition(
        derivations.isComputedAgain(at: position, on: occasion),
        "only derived attributes are set when they are computed again")
      values[position] = newValue
    }
  }

  /// Computes the attributes that are derived from the record alone, if the occasion requires it.
  mutating func derive(
    in entity: StoredEntity, time: @autoclosure () -> Double
  ) throws(StoreError) {
    try derivations.derive(&values, occasion, of: entity, time: time())
  }

  /// Whether a value differs from that of the stored record.
  var isChanged: Bool { !zip(values, before).allSatisfy { $0.hasSameBytes(as: $1) } }
}
