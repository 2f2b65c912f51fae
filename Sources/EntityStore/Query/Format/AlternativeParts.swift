internal import LodestoreFormat

/// The parts of an OR, while a format string is read.
///
/// Many comparisons of one path with constants become one IN, which is how they are run, so that a
/// format string may have more of them than nodes. A few stay as they are written.
struct AlternativeParts {
  private(set) var trees: [ConditionTree] = []
  /// By path, the places of its comparisons among ``trees``, while they are few.
  private var places: [ValuePath: [Int]] = [:]
  /// By path, the place of the list that its comparisons have become.
  private var lists: [ValuePath: Int] = [:]
  /// This many comparisons of one path, and fewer, stay as they are written.
  private static let most = 32

  init(_ first: ConditionTree) { _ = append(first) }

  /// Adds a part; true where it went into a list.
  mutating func append(_ tree: ConditionTree) -> Bool {
    guard case .comparison(let comparison) = tree, let (path, value) = comparison.equality else {
      trees.append(tree)
      return false
    }
    if let place = lists[path] {
      append(value, toListAt: place)
      return true
    }
    places[path, default: []].append(trees.count)
    trees.append(tree)
    if let found = places[path], found.count > Self.most { makeList(of: found, path) }
    return false
  }

  private mutating func append(_ value: Value, toListAt place: Int) {
    guard case .comparison(var list) = trees[place], case .values(var values) = list.right else {
      return
    }
    // A second reference to the values would copy them for each one that is added.
    trees[place] = .constant(false)
    list.right = .values([])
    values.append(value)
    list.right = .values(values)
    trees[place] = .comparison(list)
  }

  /// Puts one IN in the place of the first of the comparisons at `found`, which ascend.
  private mutating func makeList(of found: [Int], _ path: ValuePath) {
    let values = found.compactMap { place -> Value? in
      if case .comparison(let comparison) = trees[place] { comparison.equality?.value } else { nil }
    }
    trees[found[0]] = .comparison(Comparison(.path(path), .in, .values(values)))
    places[path] = nil
    let removed = Array(found.dropFirst())
    for place in removed.reversed() { trees.remove(at: place) }
    func moved(_ place: Int) -> Int { place - removed.partitioningIndex { $0 > place } }
    places = places.mapValues { $0.map(moved) }
    lists = lists.mapValues(moved)
    lists[path] = found[0]
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
}
