internal import LodestoreFormat

/// A range of the standard library, captured or written with constants.
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

/// A collection of the standard library that holds an element when one of its own is `==`.
protocol ListOfConstants: Sequence {}

extension ListOfConstants {
  /// The values to compare with; nil when one is compared otherwise.
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
