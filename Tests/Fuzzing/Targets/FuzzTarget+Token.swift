import LodestoreFormat

@testable import EntityStore

extension FuzzTarget {
  private static let pagedStore = Specimen.makeStore()

  private static let orders: [[SortTerm]] = [
    [], [SortTerm(ValuePath(attribute: "number"))],
    [SortTerm(ValuePath(attribute: "text"), isDescending: true, options: .caseInsensitive)],
    [
      SortTerm(ValuePath(attribute: "note"), nullsFirst: false),
      SortTerm(ValuePath(attribute: "small")),
    ],
    [SortTerm(ValuePath(attribute: "note")), SortTerm(ValuePath(attribute: "small"))],
    [SortTerm(ValuePath(attribute: "weight"), isDescending: true)],
    [SortTerm(ValuePath(attribute: "price")), SortTerm(ValuePath(attribute: "seen"))],
  ]

  /// The position that a page token contains, which a client may have changed.
  ///
  /// The first byte chooses the query's order.
  static let token = FuzzTarget("token", longestInput: 256) {
    try pagedStore.core.read { core in
      try orders.indices.compactMap { number in
        let entity = try core.entity(named: "Specimen")
        let plan = try core.plan(request(number), for: entity)
        let token = try PlanRun(plan, core: core).forEachOfPage { _, _ in }
        return try token.map { [UInt8(number)] + (try $0.content().key) }
      }
    }
  } run: { bytes in
    _ = try? ContinuationToken(String(decoding: bytes, as: UTF8.self)).content()
    var input = InputReader(bytes)
    let number = input.number(below: orders.count)
    let key = Array(input.rest)
    try pagedStore.core.read { core in
      let entity = try core.entity(named: "Specimen")
      var request = request(number)
      request.after = ContinuationToken(
        ContinuationToken.Content(fingerprint: request.fingerprint(entity), key: key))
      for _ in 0..<9 {
        let run = try PlanRun(try core.plan(request, for: entity), core: core)
        guard let next = try run.forEachOfPage({ _, _ in }) else { return }
        request.after = next
      }
      require(false, "the pages have no end")
    }
  }

  private static func request(_ number: Int) -> QueryRequest {
    var request = QueryRequest()
    request.order = orders[number]
    request.limit = 2
    return request
  }
}
