internal import LodestoreFormat

/// Collects the parts of an OR while a format string is parsed.
///
/// More than 32 comparisons of one path with constants become one IN. The query runs them as one IN
/// anyway. A format string can thereby have more of these comparisons than the limit of nodes
/// allows. Up to 32 comparisons stay as written.
struct AlternativeParts {
  private(set) var trees: [ConditionTree] = []
  /// The indexes in ``trees`` of a path's comparisons, while there are few of them.
  private var places: [ValuePath: [Int]] = [:]
  /// The index in ``trees`` of the IN that a path's comparisons have become.
  private var lists: [ValuePath: Int] = [:]
  /// The largest number of comparisons of one path that stay as written.
  private static let most = 32

  init(_ first: ConditionTree) { _ = append(first) }

  /// Adds a part; returns true if its constant went into an IN.
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
    // The tree is taken out while its list grows. A second reference to the list would copy all
    // values each time.
    trees[place] = .constant(false)
    list.right = .values([])
    values.append(value)
    list.right = .values(values)
    trees[place] = .comparison(list)
  }

  /// Replaces the comparisons at the ascending indexes `found` by one IN at the first of them.
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
  /// The path and the constant, if the comparison tests whether they are equal.
  fileprivate var equality: (path: ValuePath, value: Value)? {
    guard `operator` == .equal, options.isEmpty, quantifier == nil, case .path(let path) = left,
      case .value(let value) = right
    else { return nil }
    return (path, value)
  }
}
