internal import LodestoreFormat

/// The parts of an OR, while a format string is read.
///
/// Many comparisons of one path with constants become one IN, which is how they are run, so that a
/// format string may have more of them than nodes. A few stay as they are written.
struct AlternativeParts {
  private(set) var trees: [ConditionTree]
  /// By path: where its comparisons are among ``trees``, until they are a list; then the list alone.
  private var positions: [ValuePath: [Int]] = [:]
  /// This many comparisons of one path, and fewer, stay as they are written.
  private static let most = 32

  init(_ first: ConditionTree) {
    trees = []
    _ = append(first)
  }

  /// Adds a part; true where it went into a list.
  mutating func append(_ tree: ConditionTree) -> Bool {
    guard case .comparison(let comparison) = tree, let (path, value) = comparison.equality else {
      trees.append(tree)
      return false
    }
    var places = positions[path] ?? []
    positions[path] = nil
    defer { positions[path] = places }
    if places.count == 1, append(value, at: places[0]) { return true }
    places.append(trees.count)
    trees.append(tree)
    guard places.count > Self.most else { return false }
    merge(places)
    places = [places[0]]
    // Later places have changed, also those of other paths.
    reindex(except: path)
    return false
  }

  /// Adds a constant to the list of the IN at `place`; false where another comparison is there.
  private mutating func append(_ value: Value, at place: Int) -> Bool {
    guard case .comparison(var list) = trees[place], list.operator == .in,
      case .values(var values) = list.right
    else { return false }
    // No second reference, which would copy the list for each value.
    trees[place] = .constant(false)
    list.right = .values([])
    values.append(value)
    list.right = .values(values)
    trees[place] = .comparison(list)
    return true
  }

  /// Makes one IN of the comparisons at `places`, at the first of them.
  private mutating func merge(_ places: [Int]) {
    let comparisons = places.compactMap { place -> Comparison? in
      if case .comparison(let comparison) = trees[place] { comparison } else { nil }
    }
    guard let first = comparisons.first else { return }
    var list = first
    list.operator = .in
    list.right = .values(comparisons.compactMap { $0.equality?.value })
    let merged = Set(places.dropFirst())
    trees[places[0]] = .comparison(list)
    trees = trees.indices.filter { !merged.contains($0) }.map { trees[$0] }
  }

  private mutating func reindex(except path: ValuePath) {
    positions.removeAll(keepingCapacity: true)
    for (place, tree) in trees.enumerated() {
      guard case .comparison(let comparison) = tree,
        let other = comparison.equality?.path ?? comparison.listed, other != path
      else { continue }
      positions[other, default: []].append(place)
    }
  }
}

extension Comparison {
  /// The path and the constant, where the comparison asks whether the two are equal.
  fileprivate var equality: (path: ValuePath, value: Value)? {
    guard `operator` == .equal, options.isEmpty, quantifier == nil, case .path(let path) = left,
      case .value(let value) = right
    else { return nil }
    return (path, value)
  }

  /// The path whose values are looked for in a list of constants.
  fileprivate var listed: ValuePath? {
    guard `operator` == .in, options.isEmpty, quantifier == nil, case .path(let path) = left,
      case .values = right
    else { return nil }
    return path
  }
}
