internal import EntityStore

/// A page of the inspector.
///
/// A route and its address are two forms of one value: parsing the address of a route gives the
/// route. Pages that belong to no record are below `-`, which is not a name of an entity.
enum Route: Hashable, Sendable {
  /// The entities of the store.
  case store
  /// The records of an entity.
  case entity(String, Selection)
  /// The attributes, relationships and rules of an entity.
  case schema(String)
  /// The plan of the query for these records.
  case plan(String, Selection)
  case record(String, UInt64)
  /// The records to which a relationship of a record leads.
  case related(String, UInt64, String, Selection)
  /// The entries of an index, named by its attributes.
  case index(String, String, Selection)
  /// The writes of the history, newest first, before the write with a number.
  case history(before: UInt64?)
  /// One write of the history, from one of its changes on.
  case write(UInt64, from: Int)
  /// The change of one record in a write.
  case change(UInt64, String, UInt64)
  /// The imports of the store, or the runs of the import with a name.
  case imports(String?)
  /// The records that a run of an import changed, of one kind or of all, from one of them on.
  case importRun(String, UInt64, HistoryChange.Kind?, from: Int)
  /// The entities and their relationships as a diagram.
  case model
  /// A change of the store, for servers that allow changes.
  case edit(EditRoute)
  /// The events of commits, for the script of a page.
  case live
  case styleSheet
  case script
  case icon

  /// The path without the ending for a form.
  private var path: [String] {
    switch self {
    case .store: []
    case .entity(let entity, _): [entity]
    case .schema(let entity): [entity, "-", "schema"]
    case .plan(let entity, _): [entity, "-", "plan"]
    case .record(let entity, let id): [entity, "\(id)"]
    case .related(let entity, let id, let relationship, _): [entity, "\(id)", relationship]
    case .index(let entity, let index, _): [entity, "-", "index", index]
    case .history: ["-", "history"]
    case .write(let number, _): ["-", "history", "\(number)"]
    case .change(let number, let entity, let id): ["-", "history", "\(number)", entity, "\(id)"]
    case .imports, .importRun: ["-", "imports"]
    case .model: ["-", "model"]
    case .edit(let edit): edit.path
    case .live: ["-", "live"]
    case .styleSheet: ["-", "style.css"]
    case .script: ["-", "page.js"]
    case .icon: ["-", "icon.svg"]
    }
  }

  private var query: [Address.Item] {
    switch self {
    case .store, .schema, .record, .change, .model, .live, .styleSheet, .script, .icon: []
    case .write(_, let start): start > 0 ? [Address.Item(name: "_from", value: "\(start)")] : []
    case .entity(_, let selection), .plan(_, let selection), .related(_, _, _, let selection),
      .index(_, _, let selection):
      selection.items
    case .history(let number):
      number.map { [Address.Item(name: "_before", value: "\($0)")] } ?? []
    case .imports(let name): name.map { [Address.Item(name: "_name", value: $0)] } ?? []
    case .edit(let edit): edit.query
    case .importRun(let name, let run, let kind, let start):
      [Address.Item(name: "_name", value: name), Address.Item(name: "_run", value: "\(run)")]
        + (kind.map { [Address.Item(name: "_change", value: $0.rawValue)] } ?? [])
        + (start > 0 ? [Address.Item(name: "_from", value: "\(start)")] : [])
    }
  }

  var address: Address { Address(path, query) }

  init(_ path: [String], _ query: [Address.Item]) throws(AddressError) {
    if let edit = try EditRoute(path, query) {
      self = .edit(edit)
      return
    }
    let unknown = AddressError.unknownPath(Address(path).text)
    switch (path.first, path.count) {
    case (nil, _): self = .store
    case ("-", 2) where path[1] == "history":
      self = .history(before: try Self.number("_before", of: query))
      return
    case ("-", 2) where path[1] == "imports":
      self = try Self.imports(query)
      return
    case ("-", 2): self = try Self.fixed(named: path[1], else: unknown)
    case ("-", 3) where path[1] == "history":
      guard let number = Self.id(path[2]) else { throw unknown }
      let start = try Self.number("_from", of: query) ?? 0
      self = .write(number, from: Int(clamping: start))
      return
    case ("-", 5) where path[1] == "history" && !path[3].isEmpty:
      guard let number = Self.id(path[2]), let id = Self.id(path[4]) else { throw unknown }
      self = .change(number, path[3], id)
    case ("-", _): throw unknown
    case (let entity?, 1) where !entity.isEmpty:
      self = .entity(entity, try Selection(query))
      return
    case (let entity?, 2) where !entity.isEmpty:
      guard let id = Self.id(path[1]) else { throw unknown }
      self = .record(entity, id)
    case (let entity?, 3) where !entity.isEmpty && path[1] == "-" && path[2] == "plan":
      self = .plan(entity, try Selection(query))
      return
    case (let entity?, 3) where !entity.isEmpty && path[1] == "-" && path[2] == "schema":
      self = .schema(entity)
    case (let entity?, 4) where !entity.isEmpty && path[1] == "-" && path[2] == "index":
      self = .index(entity, path[3], try Selection(query))
      return
    case (let entity?, 3) where !entity.isEmpty && !path[2].isEmpty:
      guard let id = Self.id(path[1]) else { throw unknown }
      self = .related(entity, id, path[2], try Selection(query))
      return
    default: throw unknown
    }
    if let item = query.first { throw .unknownParameter(item.name) }
  }

  private static func imports(_ query: [Address.Item]) throws(AddressError) -> Route {
    var (name, run) = (String?.none, UInt64?.none)
    var (kind, start) = (HistoryChange.Kind?.none, UInt64?.none)
    for item in query {
      switch item.name {
      case "_name": name = item.value
      case "_run": run = try number("_run", of: [item])
      case "_from": start = try number("_from", of: [item])
      case "_change":
        kind = HistoryChange.Kind(rawValue: item.value)
        guard kind != nil else {
          throw .notFound(
            "no change is called '\(item.value)'; use inserted, updated or deleted")
        }
      default: throw .unknownParameter(item.name)
      }
    }
    guard let run else {
      if let item = query.first(where: { $0.name != "_name" }) {
        throw .unknownParameter(item.name)
      }
      return .imports(name)
    }
    guard let name else { throw .unknownParameter("_run") }
    return .importRun(name, run, kind, from: Int(clamping: start ?? 0))
  }

  /// Whether the route leads to a file of the inspector and not to a page.
  var isFile: Bool { Self.files.contains { $0.route == self } }

  /// The routes with a fixed name and no parameter.
  private static let fixed: [(name: String, route: Route)] =
    [(name: "model", route: Route.model)] + files
  private static let files: [(name: String, route: Route)] = [
    ("live", .live), ("style.css", .styleSheet), ("page.js", .script), ("icon.svg", .icon),
  ]

  private static func fixed(
    named name: String, else error: AddressError
  ) throws(AddressError) -> Route {
    guard let found = fixed.first(where: { $0.name == name }) else { throw error }
    return found.route
  }

  /// Whether both routes lead to the same view of an entity, for whatever records.
  func isSameView(as other: Route) -> Bool {
    switch (self, other) {
    case (.entity(let left, _), .entity(let right, _)), (.plan(let left, _), .plan(let right, _)):
      left == right
    case (.index(let left, let index, _), .index(let right, let other, _)):
      left == right && index == other
    case (
      .importRun(let left, let run, let kind, _), .importRun(let right, let other, let same, _)
    ):
      left == right && run == other && kind == same
    default: self == other
    }
  }

  /// The number in one form only, so that one page has one address.
  static func id(_ text: String) -> UInt64? {
    UInt64(text).flatMap { "\($0)" == text ? $0 : nil }
  }

  private static func number(
    _ name: String, of query: [Address.Item]
  ) throws(AddressError) -> UInt64? {
    var number: UInt64?
    for item in query {
      guard item.name == name else { throw .unknownParameter(item.name) }
      guard let found = id(item.value) else { throw .badParameter(name, item.value) }
      number = found
    }
    return number
  }
}
