@testable import EntityStore
@testable import LodestoreFormat

extension ConditionTree {
  /// The tree in one line, with the kind of each node: for comparing shapes, not for parsing.
  var sketch: String {
    switch self {
    case .constant(let value): "\(value)"
    case .all(let parts): "(" + parts.map(\.sketch).joined(separator: " & ") + ")"
    case .any(let parts): "(" + parts.map(\.sketch).joined(separator: " | ") + ")"
    case .not(let part): "!" + part.sketch
    case .comparison(let comparison):
      "\(comparison.left.sketch) \(comparison.operator) \(comparison.right.sketch)"
    case .closure(let closure): "<\(closure.text)>"
    }
  }
}

extension Operand {
  fileprivate var sketch: String {
    switch self {
    case .value(let value): value.sketch
    case .values(let values): "[" + values.map(\.sketch).joined(separator: ", ") + "]"
    case .path(let path):
      path.steps.map { step in
        if case .member(let name) = step { name } else { "\(step)" }
      }.joined(separator: ".")
    default: "\(self)"
    }
  }
}

extension Value {
  fileprivate var sketch: String {
    switch self {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .double(let value): "\(value)"
    case .date(let value): "@\(value)"
    case .string(let value): "'\(value)'"
    default: "\(self)"
    }
  }
}
