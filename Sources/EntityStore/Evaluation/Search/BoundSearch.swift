internal import LodestoreFormat

/// A search whose words and index are known.
///
/// The type is a class, because copying a plan's condition then copies only references.
final class BoundSearch: Sendable {
  let index: StoredComputedIndex
  let query: SearchQuery
  /// The condition as text, for plans.
  let text: String

  init(_ index: StoredComputedIndex, _ query: SearchQuery, text: String) {
    self.index = index
    self.query = query
    self.text = text
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
  /// Binds `SELF SEARCH "words"`, or `attribute SEARCH "words"` for one attribute of an index.
  func search(_ comparison: Comparison) throws(StoreError) -> BoundSearch {
    let text = ConditionPrinter.text(.comparison(comparison))
    guard case .path(let path) = comparison.left, path.root == .record, !isOfRule,
      variables.isEmpty, comparison.quantifier == nil, comparison.options.isEmpty,
      case .value(.string(let words)) = comparison.right, let mode = comparison.operator.searchMode
    else {
      throw .badQuery(
        "a search is SELF or an attribute, \(comparison.operator.canonicalText), and a text, not "
          + "'\(text)'")
    }
    let sought = path.steps.map { step -> String in
      if case .member(let name) = step { name } else { "?" }
    }.joined(separator: ".")
    for index in entity.searchIndexes {
      let names = entity.description.sourceNames(index.description)
      if sought.isEmpty {
        return BoundSearch(index, SearchQuery(words, mode, names: names), text: text)
      }
      if let source = names.firstIndex(of: sought) {
        let query = SearchQuery(words, mode, names: names, scope: [UInt32(source)])
        return BoundSearch(index, query, text: text)
      }
    }
    throw .noSearchIndex(entity: entity, sought.isEmpty ? nil : sought)
  }

  /// The search to which `_score` refers; `nil` for another path.
  func scored(_ path: ValuePath) throws(StoreError) -> BoundSearch? {
    guard path.root == .record, path.steps == [.member(ValuePath.scoreName)],
      entity.description.attribute(named: ValuePath.scoreName) == nil
    else { return nil }
    guard let search else {
      throw .badQuery(
        "'_score' is the score of a search, and the condition has no search, or several")
    }
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

extension StoreError {
  static func noSearchIndex(
    entity: StoredEntity, _ attribute: String?
  ) -> StoreError {
    let known = entity.searchIndexes.map(\.entries.name).joined(separator: ", ")
    let subject =
      attribute.map { "'\(entity.name).\($0)' is in no search index" }
      ?? "\(entity.name) has no search index"
    return .badQuery(
      "\(subject); declare one, as by #Search<\(entity.name)>([\\.\(attribute ?? "title")])"
        + (known.isEmpty ? "" : ". It has \(known)"))
  }
}
