internal import LodestoreFormat

/// Which plans are kept for the same query, as long as nothing is written: those of small ones. To bind,
/// estimate and plan takes most of the time of a query for a few records.
extension QueryRequest {
  /// Whether a plan is kept: not where the condition is long, or its meaning changes from run to run.
  var takesPlan: Bool {
    var room = 40
    return !forcesScan && ids == nil && condition.takesPlan(&room)
      && order.allSatisfy { $0.operand.takesPlan(&room) }
  }

  /// A hash of all that the plan depends on but the data and the schema; `nil` where no plan is
  /// kept.
  func planHash(for entity: StoredEntity) -> Int? {
    guard takesPlan else { return nil }
    var hasher = Hasher()
    hasher.combine(ObjectIdentifier(entity))
    hasher.combine(withoutPositions)
    return hasher.finalize()
  }

  /// Whether the plan of `other` is this one's.
  func hasPlan(of other: QueryRequest) -> Bool { withoutPositions == other.withoutPositions }

  /// Leaves out the positions: only errors show them, and no plan depends on them.
  private var withoutPositions: QueryRequest {
    var request = self
    request.positions = [:]
    return request
  }
}

extension ConditionTree {
  /// Whether a plan of it may be kept; takes one of `room` for each of its parts.
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
    // Rare, and one of the functions is now().
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
  /// Whether it is short, and equal only to the same bytes: other texts may have several forms.
  fileprivate var takesPlan: Bool {
    utf8.count <= 256 && utf8.allSatisfy { $0 < 0x80 }
  }
}
