internal import LodestoreFormat

/// A search whose words and index are known.
///
/// The type is a class, because copying a plan's condition then copies only references.
final class BoundSearch: Sendable {
  let index: StoredComputedIndex
  let query: SearchQuery
  /// The condition as text, for plans.
  let text: String

  /// The estimated time to analyze the texts of one record, in nanoseconds.
  let checkingCost: Double

  /// - Parameter meanLength: the mean number of words of a record; `nil` if it is not known.
  init(_ index: StoredComputedIndex, _ query: SearchQuery, text: String, meanLength: Double?) {
    self.index = index
    self.query = query
    self.text = text
    checkingCost = 500 + (meanLength ?? 30) * 80
  }
}

/// The texts that a search names.
private enum SearchSubject {
  /// The texts of the entity's only index.
  case record
  /// The texts of the index with these sources.
  case index([String])
  case attribute(String)

  init?(_ operand: Operand) {
    switch operand {
    case .path(let path):
      guard let name = Self.name(path) else { return nil }
      self = name.isEmpty ? .record : .attribute(name)
    case .list(let operands):
      let names = operands.compactMap { operand in
        if case .path(let path) = operand { Self.name(path) } else { nil }
      }
      guard names.count == operands.count else { return nil }
      self = .index(names)
    default: return nil
    }
  }

  private static func name(_ path: ValuePath) -> String? {
    guard path.root == .record else { return nil }
    return path.steps.map { step in
      if case .member(let name) = step { name } else { "?" }
    }.joined(separator: ".")
  }

  var name: String? {
    switch self {
    case .record: nil
    case .index(let names): names.joined(separator: "+")
    case .attribute(let name): name
    }
  }
}

extension Comparison.Operator {
  var isSearch: Bool { searchMode != nil }

  var searchMode: SearchQuery.Mode? {
    switch self {
    case .search: .all
    case .searchAny: .any
    case .searchPrefix: .prefix
    default: nil
    }
  }
}

extension ValuePath {
  /// The name of the score of a search in orders and projections.
  static let scoreName = "_score"
}

extension ConditionBinding {
  /// Binds `SELF SEARCH "words"`, `{name, summary} SEARCH "words"` for one of several indexes, or
  /// `attribute SEARCH "words"` for one attribute of an index.
  func search(_ comparison: Comparison) throws(StoreError) -> BoundSearch {
    let text = ConditionPrinter.text(.comparison(comparison))
    guard !isOfRule, variables.isEmpty, comparison.quantifier == nil, comparison.options.isEmpty,
      case .value(.string(let words)) = comparison.right,
      let mode = comparison.operator.searchMode, let subject = SearchSubject(comparison.left)
    else {
      throw .badQuery(
        "a search is SELF, an attribute or {the attributes of an index}, "
          + "\(comparison.operator.canonicalText), and a text, not '\(text)'")
    }
    let (index, scope) = try searchIndex(of: subject)
    let names = entity.description.sourceNames(index.description)
    return BoundSearch(
      index, SearchQuery(words, mode, names: names, scope: scope), text: text,
      meanLength: try core?.meanLength(of: index))
  }

  /// Returns the index that a search means, and the sources in which it looks; `nil` for all.
  private func searchIndex(
    of subject: SearchSubject
  ) throws(StoreError) -> (StoredComputedIndex, Set<UInt32>?) {
    let indexes = entity.computedIndexes(.search).map {
      ($0, entity.description.sourceNames($0.description))
    }
    switch subject {
    case .record:
      if indexes.count == 1 { return (indexes[0].0, nil) }
    case .index(let names):
      if let index = indexes.first(where: { $0.1 == names }) { return (index.0, nil) }
    case .attribute(let name):
      // An index of this attribute alone is meant before those that have others, too.
      if let index = indexes.first(where: { $0.1 == [name] }) { return (index.0, nil) }
      let found = indexes.filter { $0.1.contains(name) }
      if found.count == 1, let source = found[0].1.firstIndex(of: name) {
        return (found[0].0, [UInt32(source)])
      }
      if found.count > 1 { throw .ambiguousSearch(entity, "'\(entity.name).\(name)'", found) }
    }
    if case .record = subject, indexes.count > 1 {
      throw .ambiguousSearch(entity, entity.name, indexes)
    }
    throw .noSearchIndex(entity: entity, subject.name)
  }

  /// The search to which `_score` refers; `nil` for another path.
  func scored(_ path: ValuePath) throws(StoreError) -> BoundSearch? {
    guard path.isMember(ValuePath.scoreName),
      entity.description.attribute(named: ValuePath.scoreName) == nil
    else { return nil }
    guard let search = condition?.onlySearch else {
      throw .badQuery(
        "'_score' is the score of a search, and the condition has no search, or several")
    }
    if search.index.isBuilding { throw .indexIsBuilding(search.index) }
    return search
  }
}

extension BoundCondition {
  /// The search of the condition, if it has one alone.
  var onlySearch: BoundSearch? {
    var found: [BoundSearch] = []
    _ = has { part in
      if case .search(let search) = part { found.append(search) }
      return false
    }
    return found.count == 1 ? found.first : nil
  }
}

extension TransactionCore {
  /// The mean number of words of the records of a search index.
  func meanLength(of index: StoredComputedIndex) throws(StoreError) -> Double {
    do {
      return SearchStatistics(
        try transaction.get(SearchKey.statistics, in: index.entries.tree), of: index
      ).meanLength
    } catch {
      throw StoreError(error)
    }
  }
}

extension StoreError {
  /// A search that may mean several indexes.
  fileprivate static func ambiguousSearch(
    _ entity: StoredEntity, _ subject: String,
    _ indexes: [(StoredComputedIndex, names: [String])]
  ) -> StoreError {
    let known = indexes.map { "{\($0.names.joined(separator: ", "))} SEARCH" }
      .joined(separator: " or ")
    return .badQuery("\(subject) is in several search indexes; name one of them, by \(known)")
  }

  /// A read that needs an index that is under construction.
  static func indexIsBuilding(_ index: StoredComputedIndex) -> StoreError {
    .badQuery(
      "the index \(index.entries.name) is being built, and scores follow from the whole index; "
        + "wait by 'waitForIndexes()', or leave out the order by relevance")
  }

  static func noSearchIndex(
    entity: StoredEntity, _ attribute: String?
  ) -> StoreError {
    let known = entity.computedIndexes(.search).map(\.entries.name).joined(separator: ", ")
    let subject =
      attribute.map { "'\(entity.name).\($0)' is in no search index" }
      ?? "\(entity.name) has no search index"
    return .badQuery(
      "\(subject); declare one, as by #Search<\(entity.name)>([\\.\(attribute ?? "title")])"
        + (known.isEmpty ? "" : ". It has \(known)"))
  }
}
