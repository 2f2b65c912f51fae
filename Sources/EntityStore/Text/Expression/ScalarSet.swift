/// The scalars that `.`, a class or an escape like `\d` matches.
indirect enum ScalarSet: Sendable {
  case ranges([ClosedRange<UInt32>])
  case property(ScalarProperty)
  case union([ScalarSet])
  case intersection(ScalarSet, ScalarSet)
  case difference(ScalarSet, ScalarSet)
  case complement(ScalarSet)
  /// The scalars of which any case, such as upper or lower case, is in the set.
  case caseless(ScalarSet)

  /// Any scalar that does not end a line.
  static let dot = ScalarSet.complement(.property(.lineEnd))

  func contains(_ value: UInt32) -> Bool {
    switch self {
    case .ranges(let ranges): return ranges.contains { $0.contains(value) }
    case .property(let property):
      return Unicode.Scalar(value).map { property.contains($0) } ?? false
    case .union(let parts): return parts.contains { $0.contains(value) }
    case .intersection(let a, let b): return a.contains(value) && b.contains(value)
    case .difference(let a, let b): return a.contains(value) && !b.contains(value)
    case .complement(let set): return !set.contains(value)
    case .caseless(let set): return Self.cases(of: value).contains { set.contains($0) }
    }
  }

  private static func cases(of value: UInt32) -> [UInt32] {
    guard let properties = Unicode.Scalar(value)?.properties else { return [value] }
    let mappings = [properties.uppercaseMapping, properties.titlecaseMapping]
    return [value, TextFolding.simpleFold(value)] + mappings.compactMap(TextFolding.onlyScalar)
  }

  /// Adds the foldings of scalars in short ranges to the ranges.
  ///
  /// Foldings cannot be found from every other case: "ſ", for example, is not a case of "s".
  static func withFolds(_ ranges: [ClosedRange<UInt32>]) -> ScalarSet {
    var all = ranges
    for range in ranges where range.count <= 256 {
      for value in range {
        let fold = TextFolding.simpleFold(value)
        if fold != value { all.append(fold...fold) }
      }
    }
    return .ranges(all)
  }
}

/// A set of scalars with a table for ASCII.
struct CompiledScalarSet: Sendable {
  private var low: UInt64 = 0
  private var high: UInt64 = 0
  private let set: ScalarSet

  init(_ set: ScalarSet) {
    self.set = set
    for value in UInt32(0)..<64 {
      if set.contains(value) { low |= 1 << UInt64(value) }
      if set.contains(value + 64) { high |= 1 << UInt64(value) }
    }
  }

  @inline(__always)
  func contains(_ value: UInt32) -> Bool {
    if value < 64 { return low &>> UInt64(value) & 1 != 0 }
    if value < 128 { return high &>> UInt64(value &- 64) & 1 != 0 }
    return set.contains(value)
  }
}
