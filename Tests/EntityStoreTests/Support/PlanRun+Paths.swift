import LodestoreFormat

@testable import EntityStore

extension PlanRun {
  /// The groups by the values at `paths`.
  func groups(
    by paths: [ValuePath], _ terms: [GroupTerm] = []
  ) throws(StoreError) -> [GroupRow] {
    try groups(by: paths.map { Operand.path($0) }, terms)
  }

  /// Visits the groups by the values at `paths`.
  func forEachGroup(
    by paths: [ValuePath], _ terms: [GroupTerm], _ body: (GroupRow) throws(StoreError) -> Void
  ) throws(StoreError) {
    try forEachGroup(by: paths.map { Operand.path($0) }, terms, body)
  }
}
