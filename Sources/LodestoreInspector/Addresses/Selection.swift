/// The records of one entity that an address selects, their order, and the columns that it shows.
///
/// A parameter whose name begins with `_` belongs to the inspector. Every other parameter is a path
/// and the text of its value: `?license=MIT&_sort=-version`.
struct Selection: Hashable, Sendable {
  /// A value that records must have.
  struct Match: Hashable, Sendable {
    var path: String
    var text: String
  }

  /// The number of records in one answer.
  enum Size: Hashable, Sendable {
    case count(Int)
    case all
  }

  var matches: [Match] = []
  /// The condition as a predicate format string.
  var condition: String?
  /// The terms of the order: a path or an expression, with `-` before it for the descending order.
  var order: [String] = []
  /// The shown columns; empty for the usual ones.
  var columns: [String] = []
  /// The expressions whose values are counted.
  var facets: [String] = []
  /// The token after which the records begin.
  var after: String?
  /// The number of records; `nil` for the usual number.
  var size: Size?

  /// The largest number of records that one page may have.
  static let largestPage = 1_000

  init() {}

  init(_ items: [Address.Item]) throws(AddressError) {
    for item in items {
      switch item.name {
      case "_where": condition = Self.unlessEmpty(item.value)
      case "_sort": if !item.value.isEmpty { order.append(item.value) }
      case "_column": if !item.value.isEmpty { columns.append(item.value) }
      case "_facet": if !item.value.isEmpty { facets.append(item.value) }
      case "_after": after = Self.unlessEmpty(item.value)
      case "_limit": size = try Self.size(item.value)
      case _ where item.name.utf8.first == UInt8(ascii: "_") && item.name != "_id":
        throw .unknownParameter(item.name)
      case "": throw .unknownParameter(item.name)
      default: matches.append(Match(path: item.name, text: item.value))
      }
    }
  }

  private static func unlessEmpty(_ text: String) -> String? { text.isEmpty ? nil : text }

  private static func size(_ text: String) throws(AddressError) -> Size? {
    if text.isEmpty { return nil }
    if text == "all" { return .all }
    guard let count = Int(text), count > 0 else { throw .badParameter("_limit", text) }
    return .count(count)
  }

  var items: [Address.Item] {
    var items = matches.map { Address.Item(name: $0.path, value: $0.text) }
    func add(_ name: String, _ value: String?) {
      if let value { items.append(Address.Item(name: name, value: value)) }
    }
    add("_where", condition)
    for term in order { add("_sort", term) }
    for column in columns { add("_column", column) }
    for facet in facets { add("_facet", facet) }
    add("_after", after)
    switch size {
    case .count(let count): add("_limit", "\(count)")
    case .all: add("_limit", "all")
    case nil: break
    }
    return items
  }

  /// Whether all records are selected.
  var isOfAll: Bool { matches.isEmpty && condition == nil }

  /// Returns the selection with a change, from its first record on.
  func changed(_ change: (inout Selection) -> Void) -> Selection {
    var selection = self
    selection.after = nil
    change(&selection)
    return selection
  }
}
