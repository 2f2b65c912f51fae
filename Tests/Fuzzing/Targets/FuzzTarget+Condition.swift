import LodestoreFormat

@testable import EntityStore

extension FuzzTarget {
  private static let searchedStore = Specimen.makeStore()

  private static let arguments: [FormatArgument] = [
    .value(.string("x")), .list([.integer(1), .null]), .path("json.a[0]"), .value(.integer(-3)),
    .value(.double(.nan)), .value(.bool(true)), .value(.date(0.1)),
  ]

  /// Parses format strings, prints them, and expects the printed text to parse to the same
  /// condition.
  ///
  /// Each condition is bound to an entity, planned and run. The result over an index must be the
  /// result over all records.
  static let condition = FuzzTarget("condition", longestInput: 400) {
    try seedLines("condition.txt")
  } run: { bytes in
    guard let text = String(validating: bytes, as: UTF8.self) else { return }
    let parsed: ParsedCondition
    do throws(StoreError) {
      parsed = try ConditionParser.parse(
        text, arguments: Array(arguments.prefix(bytes.count { $0 == UInt8(ascii: "%") })))
    } catch {
      let cause = error.cause as? PredicateSyntaxError
      require(cause.map { $0.line >= 1 && $0.column >= 1 } ?? false, "\(error) has no place")
      return
    }
    let printed = ConditionPrinter.text(parsed.tree)
    do {
      let limits = FormatLimits(nodes: .max, bytes: .max)
      let again = try ConditionParser.parse(printed, limits: limits).tree
      require(
        ConditionPrinter.text(again).utf8.elementsEqual(printed.utf8), "\(printed) is not stable")
      // The trees are also compared by their text, because not-a-number is not equal to itself.
      require(again == parsed.tree || "\(again)" == "\(parsed.tree)", "\(printed) is another tree")
    } catch {
      require(false, "it is printed as \(printed), which is refused: \(error)")
    }
    try run(parsed.tree)
  }

  private static func run(_ tree: ConditionTree) throws {
    try searchedStore.core.read { core in
      let entity = try core.entity(named: "Specimen")
      func ids(forcesScan: Bool) throws -> [UInt64] {
        var request = QueryRequest(condition: tree)
        request.forcesScan = forcesScan
        let plan = try core.plan(request, for: entity)
        _ = QueryExplanation(plan.description, nil).description
        return try PlanRun(plan, core: core).ids().sorted()
      }
      let found = Result { try ids(forcesScan: false) }
      let scanned = Result { try ids(forcesScan: true) }
      if case .success(let found) = found, case .success(let scanned) = scanned {
        require(found == scanned, "\(ConditionPrinter.text(tree)): \(found), by a scan \(scanned)")
      }
    }
  }
}
