internal import EntityStore
internal import LodestoreRows

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

  /// A parameter whose text is no place, no area or no id.
  ///
  /// The page of the selection shows the text in its field, and no records.
  struct Unreadable: Hashable, Sendable {
    var name: String
    var text: String

    var error: AddressError {
      name == "_similar" ? .badParameter(name, text) : .badPlace(text)
    }
  }

  /// The number of records in one answer.
  enum Size: Hashable, Sendable {
    case count(Int)
    case all
  }

  var matches: [Match] = []
  /// The condition as a predicate format string.
  var condition: String?
  /// The words that the records must have, in the texts of a search index.
  var search: String?
  var mode = SearchMode.allWords
  /// The place near which the records are.
  ///
  /// Without terms of an order, the nearest records come first.
  var near: NearPlace?
  /// The area in which the records are.
  var box: BoundingBox?
  /// The record to whose vector those of the records are compared, the most similar first.
  var similar: UInt64?
  /// The faulty texts for ``near``, ``box`` and ``similar``.
  var unreadable: [Unreadable] = []
  /// The names of the indexes for ``search``, places and ``similar``; by default the first of each
  /// kind.
  var indexes: [String] = []
  /// The terms of the order: a path or an expression, with `-` before it for the descending order.
  ///
  /// A search without terms sorts by scores.
  var order: [String] = []
  /// The shown columns; empty for the usual ones.
  var columns: [String] = []
  /// The expressions whose values are counted.
  var facets: [String] = []
  /// The token after which the records begin.
  var after: String?
  /// The number of records; `nil` for the usual number.
  var size: Size?
  /// The seconds that the page may take; `nil` for the usual time.
  var wait: Int?

  /// The maximum number of bytes of ``search``.
  static let longestSearch = 2_000

  /// The largest number of records that one page may have.
  static let largestPage = 1_000

  /// The seconds that pages offer when the usual time did not suffice.
  static let waits = [2, 10]

  init() {}

  init(_ items: [Address.Item]) throws(AddressError) {
    for item in items {
      switch item.name {
      case "_search": search = try Self.search(item.value)
      case "_mode": mode = try Self.mode(item.value)
      case "_near": near = read(item, NearPlace.init)
      case "_box": box = read(item, PlaceText.box)
      case "_similar": similar = read(item) { UInt64($0) }
      case "_index": if !item.value.isEmpty { indexes.append(item.value) }
      case "_where": condition = Self.unlessEmpty(item.value)
      case "_sort": if !item.value.isEmpty { order.append(item.value) }
      case "_column": if !item.value.isEmpty { columns.append(item.value) }
      case "_facet": if !item.value.isEmpty { facets.append(item.value) }
      case "_after": after = Self.unlessEmpty(item.value)
      case "_limit": size = try Self.size(item.value)
      case "_wait": wait = try Self.wait(item.value)
      case _ where item.name.utf8.first == UInt8(ascii: "_") && item.name != "_id":
        throw .unknownParameter(item.name)
      case "": throw .unknownParameter(item.name)
      default: matches.append(Match(path: item.name, text: item.value))
      }
    }
  }

  private static func search(_ text: String) throws(AddressError) -> String? {
    guard text.utf8.count <= longestSearch else {
      throw .notFound("a search has at most \(longestSearch) bytes")
    }
    return unlessEmpty(text)
  }

  private static func mode(_ name: String) throws(AddressError) -> SearchMode {
    if name.isEmpty { return .allWords }
    guard let found = SearchMode.choices.first(where: { $0.name == name }) else {
      let known = SearchMode.choices.map { "'\($0.name)'" }.joined(separator: ", ")
      throw .notFound("'\(name)' is not a mode of a search; use one of \(known)")
    }
    return found.mode
  }

  /// Parses the text of a parameter, and notes a text that `parse` refuses.
  private mutating func read<Parsed>(
    _ item: Address.Item, _ parse: (String) -> Parsed?
  ) -> Parsed? {
    if item.value.allSatisfy(\.isWhitespace) { return nil }
    let parsed = parse(item.value)
    if parsed == nil { unreadable.append(Unreadable(name: item.name, text: item.value)) }
    return parsed
  }

  /// The faulty text of a parameter.
  func unreadable(_ name: String) -> String? { unreadable.last { $0.name == name }?.text }

  private static func unlessEmpty(_ text: String) -> String? { text.isEmpty ? nil : text }

  private static func size(_ text: String) throws(AddressError) -> Size? {
    if text.isEmpty { return nil }
    if text == "all" { return .all }
    guard let count = Int(text), count > 0 else { throw .badParameter("_limit", text) }
    return .count(count)
  }

  private static func wait(_ text: String) throws(AddressError) -> Int? {
    if text.isEmpty { return nil }
    guard let seconds = Int(text), (1...(waits.last ?? 1)).contains(seconds) else {
      throw .badParameter("_wait", text)
    }
    return seconds
  }

  var items: [Address.Item] {
    var items = matches.map { Address.Item(name: $0.path, value: $0.text) }
    func add(_ name: String, _ value: String?) {
      if let value { items.append(Address.Item(name: name, value: value)) }
    }
    add("_search", search)
    if mode != .allWords { add("_mode", SearchMode.choices.first { $0.mode == mode }?.name) }
    add("_near", near?.text)
    add("_box", box.map(PlaceText.text))
    add("_similar", similar.map { "\($0)" })
    for parameter in unreadable { add(parameter.name, parameter.text) }
    for name in indexes { add("_index", name) }
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
    add("_wait", wait.map { "\($0)" })
    return items
  }

  /// Whether all records are selected.
  var isOfAll: Bool {
    matches.isEmpty && condition == nil && search == nil && near == nil && box == nil
      && similar == nil && unreadable.isEmpty
  }

  /// The selection of the same records, without an order and a view of them.
  var ofRecords: Selection {
    var selection = Selection()
    selection.matches = matches
    selection.condition = condition
    selection.search = search
    selection.mode = mode
    (selection.near, selection.box, selection.similar) = (near, box, similar)
    selection.unreadable = unreadable
    selection.indexes = indexes
    return selection
  }

  /// Returns the selection with a change, from its first record on.
  func changed(_ change: (inout Selection) -> Void) -> Selection {
    var selection = self
    (selection.after, selection.wait) = (nil, nil)
    change(&selection)
    return selection
  }
}

extension SearchMode {
  /// The modes with their names in addresses, and in words.
  static let choices: [(name: String, mode: SearchMode, title: String)] = [
    ("all", .allWords, "all words"), ("any", .anyWord, "one of the words"),
    ("typing", .typing, "the last word is a beginning"),
  ]
}
