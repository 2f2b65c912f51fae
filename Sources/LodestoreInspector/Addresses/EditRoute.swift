/// A change that a person asks for, on a server that allows changes.
///
/// GET gives the form of the change. POST gives the question with its effects, and the answer to
/// the question goes to ``confirm``.
enum EditRoute: Hashable, Sendable {
  case insert(String)
  case update(String, UInt64)
  case delete(String, UInt64)
  /// The links of a record by a relationship to many records.
  case links(String, UInt64, String)
  /// Assignments to all selected records.
  case updateSelected(String, Selection)
  case deleteSelected(String, Selection)
  /// The undo of a write.
  case undo(UInt64)
  /// The change that a question has described.
  case confirm

  var path: [String] {
    switch self {
    case .insert(let entity): [entity, "-", "new"]
    case .update(let entity, let id): [entity, "\(id)", "-", "edit"]
    case .delete(let entity, let id): [entity, "\(id)", "-", "delete"]
    case .links(let entity, let id, let relationship): [entity, "\(id)", relationship, "-", "edit"]
    case .updateSelected(let entity, _): [entity, "-", "update"]
    case .deleteSelected(let entity, _): [entity, "-", "delete"]
    case .undo(let number): ["-", "history", "\(number)", "-", "undo"]
    case .confirm: ["-", "change"]
    }
  }

  var query: [Address.Item] {
    switch self {
    case .updateSelected(_, let selection), .deleteSelected(_, let selection): selection.items
    case .insert, .update, .delete, .links, .undo, .confirm: []
    }
  }

  /// Fails for the path of another page.
  init?(_ path: [String], _ query: [Address.Item]) throws(AddressError) {
    switch path.count {
    case 2 where path == ["-", "change"]: self = .confirm
    case 3 where path[0] != "-" && path[1] == "-" && path[2] == "new": self = .insert(path[0])
    case 3 where path[0] != "-" && path[1] == "-" && path[2] == "update":
      self = .updateSelected(path[0], try Selection(query))
      return
    case 3 where path[0] != "-" && path[1] == "-" && path[2] == "delete":
      self = .deleteSelected(path[0], try Selection(query))
      return
    case 4 where path[2] == "-" && (path[3] == "edit" || path[3] == "delete"):
      guard path[0] != "-", let id = Route.id(path[1]) else { return nil }
      self = path[3] == "edit" ? .update(path[0], id) : .delete(path[0], id)
    case 5 where path[0] == "-" && path[1] == "history" && path[3] == "-" && path[4] == "undo":
      guard let number = Route.id(path[2]) else { return nil }
      self = .undo(number)
    case 5 where path[0] != "-" && path[3] == "-" && path[4] == "edit":
      guard let id = Route.id(path[1]) else { return nil }
      self = .links(path[0], id, path[2])
    default: return nil
    }
    if let item = query.first { throw .unknownParameter(item.name) }
  }

  /// The entity whose records change; `nil` if any may.
  var entity: String? {
    switch self {
    case .insert(let entity), .update(let entity, _), .delete(let entity, _),
      .links(let entity, _, _), .updateSelected(let entity, _), .deleteSelected(let entity, _):
      entity
    case .undo, .confirm: nil
    }
  }

  /// The page to which a person returns who does not make the change.
  var origin: Route {
    switch self {
    case .insert(let entity): .entity(entity, Selection())
    case .update(let entity, let id), .delete(let entity, let id), .links(let entity, let id, _):
      .record(entity, id)
    case .updateSelected(let entity, let selection), .deleteSelected(let entity, let selection):
      .entity(entity, selection)
    case .undo(let number): .write(number, from: 0)
    case .confirm: .store
    }
  }
}
