internal import EntityStore
package import LodestoreFormat

/// Equal parts of the range of numbers or dates, with the number of values in each.
package struct Histogram {
  package static let partCount = 24

  package let low: Double
  package let high: Double
  package let isDate: Bool
  /// The number of values in each part; a single part for a single value.
  package private(set) var counts: [Int]

  /// Makes a histogram of the values from `first` to `last`.
  ///
  /// Fails unless both are finite numbers or dates.
  package init?(_ first: Value?, _ last: Value?) {
    guard let low = first.flatMap(Self.number), let high = last.flatMap(Self.number), low <= high
    else { return nil }
    self.low = low
    self.high = high
    counts = [Int](repeating: 0, count: low == high ? 1 : Self.partCount)
    if case .date? = first { isDate = true } else { isDate = false }
  }

  /// The number or date as a finite double; `nil` for all other values.
  package static func number(_ value: Value) -> Double? {
    let number: Double? =
      switch value {
      case .integer(let number): Double(number)
      case .unsigned(let number): Double(number)
      case .double(let number), .date(let number): number
      case .decimal(let decimal): decimal.isNaN ? nil : Double(decimal.text)
      default: nil
      }
    return number.flatMap { $0.isFinite ? $0 : nil }
  }

  /// Adds a value; returns false if it is outside the range.
  @discardableResult
  package mutating func add(_ value: Value, _ count: Int) -> Bool {
    guard let number = Self.number(value), number >= low, number <= high else { return false }
    // Half of each number, because the range may be longer than the largest double.
    let length = high / 2 - low / 2
    let share = length > 0 ? (number / 2 - low / 2) / length : 0
    counts[min(Int(share * Double(counts.count)), counts.count - 1)] += count
    return true
  }

  /// The lower end of a part.
  package func bound(_ part: Int) -> Cell {
    let share = Double(part) / Double(counts.count)
    let number =
      (high - low).isFinite
      ? low + (high - low) / Double(counts.count) * Double(part)
      : low * (1 - share) + high * share
    return isDate ? .date(KeyText.text(of: .date(number.rounded()))) : .double(number)
  }
}
