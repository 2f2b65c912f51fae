internal import LodestoreFormat

/// Decides which plans are cached for the next run of the same query.
///
/// Only plans of small queries are cached, until the next write. Binding, estimating and planning
/// take most of the time of a query for a few records.
extension QueryRequest {
  /// Whether the plan is cached.
  ///
  /// A plan is not cached if its condition is long, or changes its meaning from run to run.
  var takesPlan: Bool {
    var room = 40
    return !forcesScan && ids == nil && condition.takesPlan(&room)
      && order.allSatisfy { $0.operand.takesPlan(&room) }
  }

  /// Returns a hash of everything the plan depends on except data and schema, or `nil` if the plan
  /// is not cached.
  func planHash(for entity: StoredEntity) -> Int? {
    guard takesPlan else { return nil }
    var hasher = Hasher()
    hasher.combine(ObjectIdentifier(entity))
    hasher.combine(withoutPositions)
    return hasher.finalize()
  }

  /// Returns whether the plan of `other` serves this request.
  func hasPlan(of other: QueryRequest) -> Bool { withoutPositions == other.withoutPositions }

  /// The request without positions, which only errors use and no plan depends on.
  private var withoutPositions: QueryRequest {
    var request = self
    request.positions = [:]
    return request
  }
}

extension ConditionTree {
  /// Returns whether a plan with this condition may be cached, subtracting one from `room` for each
  /// part.
  fileprivate func takesPlan(_ room: inout Int) -> Bool {
    room -= 1
    guard room >= 0 else { return false }
    switch self {
    case .constant: return true
    case .all(let parts), .any(let parts):
      for part in parts {
        guard part.takesPlan(&room) else { return false }
      }
      return true
    case .not(let condition): return condition.takesPlan(&room)
    case .comparison(let comparison):
      return comparison.left.takesPlan(&room) && comparison.right.takesPlan(&room)
    case .closure: return false
    }
  }
}

extension Operand {
  fileprivate func takesPlan(_ room: inout Int) -> Bool {
    room -= 1
    guard room >= 0 else { return false }
    switch self {
    case .value(let value): return value.takesPlan
    case .values(let values):
      room -= values.count
      return room >= 0 && values.allSatisfy(\.takesPlan)
    case .path(let path): return path.takesPlan(&room)
    // Such operands are rare. Calls include `now()`, whose value changes from run to run.
    case .list, .variable, .arithmetic, .negative, .conditional, .subquery, .cast, .call:
      return false
    }
  }
}

extension ValuePath {
  fileprivate func takesPlan(_ room: inout Int) -> Bool {
    room -= steps.count
    guard room >= 0, root == .record else { return false }
    return steps.allSatisfy { if case .member(let name) = $0 { name.takesPlan } else { true } }
  }
}

extension Value {
  fileprivate var takesPlan: Bool {
    switch self {
    case .string(let text): text.takesPlan
    case .data(let bytes), .document(let bytes): bytes.count <= 256
    default: true
    }
  }
}

extension String {
  /// Whether the text is short and ASCII, so that it equals only the same bytes.
  ///
  /// A text beyond ASCII may have several equal forms.
  fileprivate var takesPlan: Bool { utf8.count <= 256 && utf8.allSatisfy { $0 < 0x80 } }
}
