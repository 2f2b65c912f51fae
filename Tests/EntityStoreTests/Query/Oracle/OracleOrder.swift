import Foundation

@testable import EntityStore
@testable import LodestoreFormat

/// The order that sort terms ask for, from the words of `SortKey`: every pair of records compared
/// by values.
struct OracleOrder {
  let terms: [SortTerm]
  private let isTieDescending: Bool

  init(_ terms: [SortTerm]) {
    self.terms = terms
    isTieDescending = terms.last?.isDescending ?? false
  }

  func sorted(_ records: [FactRecord]) -> [FactRecord] {
    records.sorted { a, b in
      for term in terms {
        let order = compare(value(of: a, term), value(of: b, term), term)
        if order != 0 { return order < 0 }
      }
      return isTieDescending ? a.id > b.id : a.id < b.id
    }
  }

  /// The scalar that a term sorts by; collections count as null.
  private func value(of record: FactRecord, _ term: SortTerm) -> Value {
    if term.operand == .path(ValuePath(attribute: "_id")) { return .integer(unsigned: record.id) }
    let fact = try? OracleEvaluator().fact(term.operand, record, [])
    return fact?.scalar ?? .null
  }

  private func compare(_ a: Value, _ b: Value, _ term: SortTerm) -> Int {
    switch (a == .null, b == .null) {
    case (true, true): return 0
    case (true, false), (false, true):
      return (a == .null) == (term.nullsFirst ?? !term.isDescending) ? -1 : 1
    default: break
    }
    let order = ascending(a, b, term.options)
    return term.isDescending ? -order : order
  }

  private func ascending(_ a: Value, _ b: Value, _ options: TextOptions) -> Int {
    if rank(a) != rank(b) { return rank(a) < rank(b) ? -1 : 1 }
    return OracleEvaluator.order(a, b, options)?.rawValue ?? 0
  }

  /// The rank by type: numbers come first, then not-a-number, then texts.
  private func rank(_ value: Value) -> Int {
    switch value {
    case .double(let number), .date(let number): number.isNaN ? 1 : 0
    case .decimal(let number): number.isNaN ? 1 : 0
    case .string: 2
    default: 0
    }
  }
}
