internal import LodestoreFormat

/// Checks that a format string compares enumerations only with raw values of their cases.
///
/// Any other value would silently find nothing. Conditions in Swift cannot contain such a
/// comparison.
struct RawValueCheck {
  private let cases: [String: any EnumerationCases]
  private let positions: [String: FormatPosition]

  init(_ cases: [String: any EnumerationCases], _ positions: [String: FormatPosition]) {
    self.cases = cases
    self.positions = positions
  }

  /// Throws ``StoreError/Code/invalidQuery`` for the first comparison with another value.
  func check(_ tree: ConditionTree) throws(StoreError) {
    if cases.isEmpty { return }
    switch tree {
    case .constant, .closure: break
    case .all(let parts), .any(let parts): for part in parts { try check(part) }
    case .not(let part): try check(part)
    case .comparison(let comparison): try check(comparison)
    }
  }

  private func check(_ comparison: Comparison) throws(StoreError) {
    guard [.equal, .notEqual, .in].contains(comparison.operator), comparison.options.isEmpty else {
      return
    }
    try check(comparison.left, comparison.right)
    if comparison.operator != .in { try check(comparison.right, comparison.left) }
  }

  private func check(_ operand: Operand, _ constant: Operand) throws(StoreError) {
    guard case .path(let path) = operand, path.root == .record, path.steps.count == 1,
      case .member(let name) = path.steps[0], let known = cases[name]
    else { return }
    let values = constant.constants ?? []
    guard let wrong = values.first(where: { !known.contain(StoredValue($0)) }) else { return }
    throw .noSuchCase(
      wrong, of: known, attribute: name, position: positions[ConditionPrinter.text(.path(path))])
  }
}
