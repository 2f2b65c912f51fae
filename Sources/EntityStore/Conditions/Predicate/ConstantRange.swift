internal import LodestoreFormat

/// A range type of the standard library, whose bounds are constants of a predicate.
protocol ConstantRange<Bound> {
  associatedtype Bound: Comparable
  var lowest: Bound? { get }
  var highest: Bound? { get }
  var isHighestIncluded: Bool { get }
}

extension ConstantRange {
  var lowest: Bound? { nil }
  var highest: Bound? { nil }
  var isHighestIncluded: Bool { false }
}

extension ClosedRange: ConstantRange {
  var lowest: Bound? { lowerBound }
  var highest: Bound? { upperBound }
  var isHighestIncluded: Bool { true }
}

extension Range: ConstantRange {
  var lowest: Bound? { lowerBound }
  var highest: Bound? { upperBound }
}

extension PartialRangeFrom: ConstantRange {
  var lowest: Bound? { lowerBound }
}

extension PartialRangeThrough: ConstantRange {
  var highest: Bound? { upperBound }
  var isHighestIncluded: Bool { true }
}

extension PartialRangeUpTo: ConstantRange {
  var highest: Bound? { upperBound }
}

/// A collection type of the standard library that tests for an element by `==`.
protocol ListOfConstants: Sequence {}

extension ListOfConstants {
  /// The constants for the elements; `nil` if a condition tree compares one of them differently.
  var storedValues: [Value]? {
    var values: [Value] = []
    values.reserveCapacity(underestimatedCount)
    for element in self {
      guard let value = StoredEquivalent.value(for: element) else { return nil }
      values.append(value)
    }
    return values
  }
}

extension Array: ListOfConstants {}
extension ArraySlice: ListOfConstants {}
extension ContiguousArray: ListOfConstants {}
extension Set: ListOfConstants {}
