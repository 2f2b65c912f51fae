internal import LodestoreFormat

extension Planner {
  /// Returns a plan for the union of the branches of a disjunction, if an index or ids can find
  /// every branch.
  func union(of clause: BoundCondition, at position: Int) throws -> QueryPlan? {
    guard case .any(let branches) = clause else { return nil }
    var union = UnionOfBranches()
    // The index chosen for branches of each form, so that a hundred thousand branches of one form
    // need one choice.
    var chosen: [BranchForm: StoredIndex] = [:]
    for branch in branches where !branch.isNever {
      let parts = branch.conjuncts
      if let ids = parts.lazy.compactMap(\.recordIDs).first {
        union.add(ids, entries: try entryCount(of: ids))
        continue
      }
      if let search = try searchAccess(of: parts) {
        union.add(search, isExact: parts.count == 1)
        continue
      }
      let form = BranchForm(parts)
      var known: IndexAccess?
      if let index = chosen[form] {
        known = try IndexAccess(
          index, IndexConstraints(parts), union.isSampled ? nil : statistics)
      } else {
        // Estimates of no and of one entry count as equal. Among equals, the index that covers more
        // of the branch finds fewer records.
        known = try accesses(for: IndexConstraints(parts)).min {
          (max(1, $0.estimatedEntryCount), -$0.covered.count)
            < (max(1, $1.estimatedEntryCount), -$1.covered.count)
        }
        chosen[form] = known?.index
      }
      guard let access = known else { return nil }
      union.add(access, isExact: access.covered.count == parts.count)
    }
    let paths = union.paths
    if paths.isEmpty { return finished(.nothing, matches: 0, cost: 0) }
    let entries = union.estimatedEntryCount
    let matches = min(entries, statistics.recordCount)
    let costs = collectingCosts(
      Double(entries) * Cost.entry * 2 + Double(union.rangeCount) * Cost.range,
      matches: Double(matches), covering: union.isExact ? [position] : [])
    // If the entries do not decide the branches, records are checked.
    let found = union.isExact ? matches : Int(Double(matches) * Cost.unknownShare)
    return finished(
      paths.count == 1 ? paths[0] : .union(paths), matches: found, cost: costs.expected,
      worstCaseCost: costs.worstCase, covered: union.isExact ? [position] : [])
  }

  /// The access by a search of a branch that no other index finds.
  private func searchAccess(of parts: [BoundCondition]) throws -> SearchAccess? {
    for case .search(let search) in parts
    where try !search.index.isBuilding && accesses(for: IndexConstraints(parts)).isEmpty {
      let matches = min(try statistics.searchCount(search), statistics.recordCount)
      return SearchAccess(search: search, estimatedMatchCount: matches)
    }
    return nil
  }

  private func entryCount(of path: AccessPath) throws -> Int {
    switch path {
    case .ids(let ids): ids.count
    case .idRange(let range): try estimatedCount(of: range)
    default: 0
    }
  }
}

extension BoundCondition {
  /// The ids that pass the condition, if it is a test of the record's id.
  fileprivate var recordIDs: AccessPath? {
    if case .test(let test) = self, test.attribute.isRecordID { test.recordIDs } else { nil }
  }
}

/// The form of a branch of a disjunction: the attributes that it tests and the kinds of the tests.
private struct BranchForm: Hashable {
  private enum Kind: Hashable { case null, interval, point, numbers, text, key, keys, other }

  private struct Part: Hashable {
    var attribute: UInt32
    var kind: Kind
  }

  private let parts: [Part]

  init(_ conjuncts: [BoundCondition]) {
    parts = conjuncts.map { part in
      guard case .test(let test) = part else { return Part(attribute: .max, kind: .other) }
      let kind: Kind =
        switch test.kind {
        case .null: .null
        case .interval(let interval): interval.low == interval.high ? .point : .interval
        case .numbers: .numbers
        case .text(_, let `operator`, _, let options):
          `operator` == .equal && options.isEmpty ? .point : .text
        case .key: .key
        case .keys: .keys
        }
      return Part(attribute: test.attribute.number, kind: kind)
    }
  }
}

/// Collects the access paths of a disjunction's branches.
///
/// Paths by complete tuples of the same index become one.
private struct UnionOfBranches {
  private final class Tuples {
    var access: IndexAccess
    let keys = KeyEntries(expectedCount: 64)

    init(_ first: IndexAccess) {
      access = first
      // The access's clauses are positions in the branch, not in the whole condition, so they are
      // dropped.
      access.clauses = []
      access.estimatedEntryCount = 0
    }
  }

  private var others: [AccessPath] = []
  /// The paths by complete tuples, by the number of the index.
  private var tuples: [UInt32: Tuples] = [:]
  private(set) var isExact = true
  private(set) var rangeCount = 0
  private var branchCount = 0
  private var sampledCount = 0
  private var sampledEntries = 0

  /// The number of branches whose entries are estimated.
  ///
  /// Further branches are assumed to have the average number of entries of these.
  private static let sampleSize = 64

  var isSampled: Bool { sampledCount >= Self.sampleSize }

  var estimatedEntryCount: Int {
    Int(Double(sampledEntries) * Double(branchCount) / Double(max(1, sampledCount)))
  }

  mutating func add(_ path: AccessPath, entries: Int) {
    others.append(path)
    count(entries, ranges: 1)
    // The ids may include some that no record has, so the records must be read.
    isExact = false
  }

  mutating func add(_ access: SearchAccess, isExact: Bool) {
    self.isExact = self.isExact && isExact
    others.append(.search(access))
    count(access.estimatedMatchCount, ranges: 10)
  }

  mutating func add(_ access: IndexAccess, isExact: Bool) {
    self.isExact = self.isExact && isExact
    count(access.estimatedEntryCount, ranges: access.rangeCount)
    guard case .points(let points) = access.span else {
      others.append(.index(access))
      return
    }
    let number = access.index.description.number
    let group = tuples[number] ?? Tuples(access)
    tuples[number] = group
    for index in 0..<points.count {
      points.withKey(index) { group.keys.append(key: $0, recordID: 0) }
    }
    group.access.mayHaveNulls = group.access.mayHaveNulls || access.mayHaveNulls
    group.access.isExact = group.access.isExact && access.isExact
    group.access.estimatedEntryCount += isSampled ? 0 : access.estimatedEntryCount
  }

  private mutating func count(_ entries: Int, ranges: Int) {
    branchCount += 1
    rangeCount += ranges
    guard !isSampled else { return }
    sampledCount += 1
    sampledEntries += entries
  }

  /// The access paths; the paths by complete tuples come first.
  var paths: [AccessPath] {
    let indexes = tuples.values.sorted {
      $0.access.index.description.number < $1.access.index.description.number
    }
    return indexes.map { group in
      var access = group.access
      let keys = PackedKeys(sorting: group.keys)
      if keys.count > 1 { access.fixedCount = 0 }
      access.pointCount = access.index.description.attributes.count
      access.span = .points(keys)
      access.estimatedEntryCount = max(
        access.estimatedEntryCount, indexes.count == 1 && others.isEmpty ? estimatedEntryCount : 0)
      return .index(access)
    } + others
  }
}
