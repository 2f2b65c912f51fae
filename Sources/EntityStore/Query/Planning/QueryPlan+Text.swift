internal import LodestoreFormat

/// The numbers of entries and records that a run has read.
struct PlanCounts: Sendable, Hashable {
  var entriesRead = 0
  var recordsRead = 0
  var results = 0
}

/// A plan as facts, and as lines of text.
struct PlanDescription: Sendable {
  /// One fact of a plan: a title of a word or two, and the text.
  struct Line: Sendable {
    let title: String
    let text: String
  }

  var lines: [Line]
  var index: String?
  var isScan: Bool
  var estimatedEntryCount: Int
  var estimatedRecordCount: Int
}

extension QueryPlan {
  var description: PlanDescription {
    var lines = access.lines(entity)
    if case .index(let access) = access, let filter = access.filter {
      lines.append(.init(title: "check", text: "on each entry: \(filter.condition.text)"))
    }
    switch (access, residual) {
    case (.nothing, _): break
    case (_, let residual?):
      lines.append(.init(title: "check", text: "on each record: \(residual.text)"))
    case (.index, nil), (.elements, nil), (.related, nil), (.union, nil), (.intersection, nil):
      lines.append(.init(title: "check", text: "nothing more: the entries say it all"))
    case (.scan, nil), (.ids, nil), (.idRange, nil): break
    }
    switch arrangement {
    case .natural(let isReversed) where order.isByID,
      .index(let isReversed) where order.isByID:
      lines.append(.init(title: "order", text: "by _id\(isReversed ? ", backwards" : "")"))
    case .merge(let isReversed):
      let text = "of the index behind each key\(isReversed ? ", backwards" : ""), merged"
      lines.append(.init(title: "order", text: text))
    case .index(let isReversed):
      lines.append(
        .init(title: "order", text: "of the index\(isReversed ? ", backwards" : "")"))
    case .natural(let isReversed):
      lines.append(.init(title: "order", text: "as found\(isReversed ? ", backwards" : "")"))
    case .groups(let groups):
      lines.append(
        .init(
          title: "order",
          text: "of the index\(groups.isReversed ? ", backwards" : ""), "
            + "those equal in it sorted by \(order.text)"))
    case .sort(let kept):
      let keeping = kept.map { ", keeping the first \($0)" } ?? ""
      lines.append(.init(title: "order", text: "sorted by \(order.text)\(keeping)"))
    }
    if let limit = request.limit {
      let offset = request.offset > 0 ? " from \(request.offset)" : ""
      lines.append(.init(title: "limit", text: "\(limit)\(offset)"))
    } else if request.offset > 0 {
      lines.append(.init(title: "offset", text: "\(request.offset)"))
    }
    if let alternative {
      let other = alternative.plan.access.lines(entity).first.map { "\($0.title) \($0.text)" }
      lines.append(
        .init(
          title: "else",
          text: "after \(alternative.recordLimit) records without an end: \(other ?? "")"))
    }
    let entries = access.estimatedEntryCount(recordCount)
    return PlanDescription(
      lines: lines,
      index: access.indexNames.isEmpty ? nil : access.indexNames.joined(separator: ", "),
      isScan: isScan, estimatedEntryCount: isScan ? 0 : entries,
      estimatedRecordCount: isScan ? recordCount : estimatedMatchCount)
  }
}

extension AccessPath {
  var indexNames: [String] {
    switch self {
    case .index(let access), .elements(let access): [access.index.name]
    case .intersection(let accesses): accesses.map(\.index.name)
    case .union(let paths):
      paths.flatMap(\.indexNames).reduce(into: []) { names, name in
        if !names.contains(name) { names.append(name) }
      }
    case .related(let access): [access.index.name]
    case .nothing, .scan, .ids, .idRange: []
    }
  }

  func estimatedEntryCount(_ recordCount: Int) -> Int {
    switch self {
    case .nothing, .scan, .ids, .idRange: 0
    case .index(let access), .elements(let access): access.estimatedEntryCount
    case .related(let access): access.estimatedLinkCount
    case .union(let paths): paths.reduce(0) { $0 + $1.estimatedEntryCount(recordCount) }
    case .intersection(let accesses): accesses.reduce(0) { $0 + $1.estimatedEntryCount }
    }
  }

  func lines(_ entity: StoredEntity) -> [PlanDescription.Line] {
    switch self {
    case .nothing: [.init(title: "read", text: "nothing: the condition is never true")]
    case .scan: [.init(title: "scan", text: "all records of \(entity.name)")]
    case .ids(let ids):
      [
        .init(
          title: "look up", text: "\(ids.count) \(ids.count == 1 ? "record" : "records") by _id")
      ]
    case .idRange(let range):
      [.init(title: "scan", text: "_id \(range.lowerBound) to \(Self.end(range.upperBound))")]
    case .index(let access), .elements(let access):
      [.init(title: "index", text: access.text)]
    case .related(let access):
      access.target.access.lines(access.target.entity)
        + (access.target.residual.map {
          [.init(title: "check", text: "on each \(access.target.entity.name): \($0.text)")]
        } ?? [])
        + [
          .init(
            title: "links",
            text: "of \(access.test.end.label), back from \(access.target.entity.name), about "
              + "\(access.estimatedLinkCount)")
        ]
    case .union(let paths):
      [.init(title: "union", text: "of \(paths.count) \(isOfIndexes ? "index ranges" : "ways")")]
        + paths.prefix(8).flatMap { $0.lines(entity) }
    case .intersection(let accesses):
      [.init(title: "both", text: "records that \(accesses.count) indexes lead to")]
        + accesses.map { .init(title: "index", text: $0.text) }
    }
  }

  private var isOfIndexes: Bool {
    guard case .union(let paths) = self else { return false }
    return paths.allSatisfy { if case .index = $0 { true } else { false } }
  }

  private static func end(_ id: UInt64) -> String { id == .max ? "the end" : "\(id)" }
}

extension IndexAccess {
  /// `Pod.name: "AF" to "AG", about 12 entries`.
  var text: String {
    let about = "about \(estimatedEntryCount) \(estimatedEntryCount == 1 ? "entry" : "entries")"
    switch span {
    case .points(let keys), .prefixes(let keys):
      if keys.count == 1 { return "\(index.name) at \(Self.shown(keys[0])), \(about)" }
      return "\(index.name) at \(keys.count) keys, \(about)"
    case .ranges(let ranges):
      if ranges.count != 1 { return "\(index.name) in \(ranges.count) ranges, \(about)" }
      if ranges[0] == .all { return "\(index.name), all of it, \(about)" }
      let upper = ranges[0].upper.map { "to \(Self.shown($0))" } ?? "to the end"
      return "\(index.name) from \(Self.shown(ranges[0].lower)) \(upper), \(about)"
    }
  }

  /// The whole elements of a bound.
  private static func shown(_ bytes: [UInt8]) -> String {
    bytes.withUnsafeBytes { bytes in
      var decoder = KeyDecoder(bytes)
      var parts: [String] = []
      while !decoder.isAtEnd {
        let start = decoder.offset
        guard let value = try? decoder.next() else {
          // The beginning of a text.
          let rest = bytes[min(start + 1, bytes.count)...].prefix(32)
          let text = String(decoding: rest.filter { $0 != 255 && $0 != 0 }, as: UTF8.self)
          if !text.isEmpty { parts.append("\(text)…") }
          break
        }
        parts.append(KeyText.text(of: value))
      }
      return "(\(parts.joined(separator: ", ")))"
    }
  }
}

extension BoundOrder {
  var text: String {
    terms.map { $0.isDescending ? "-\($0.text)" : $0.text }.joined(separator: ", ")
  }
}

extension BoundCondition {
  /// For plans: close to the format string.
  var text: String {
    switch self {
    case .constant(let flag): flag ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .all(let parts): parts.map(\.nested).joined(separator: " AND ")
    case .any(let parts): parts.map(\.nested).joined(separator: " OR ")
    case .not(let part): "NOT \(part.nested)"
    case .test(let test): test.text
    case .expression(let comparison): comparison.text
    case .closure(let closure): "<\(closure.text)>"
    case .related(let test): test.text
    }
  }

  private var nested: String {
    switch self {
    case .all, .any: "(\(text))"
    default: text
    }
  }
}

extension AttributeTest {
  var text: String {
    let name = attribute.name
    switch kind {
    case .null: return "\(name) == NULL"
    case .interval(let interval):
      let all = OrderedNumber.all(attribute.type)
      let low = KeyText.text(of: OrderedNumber.value(interval.low, attribute.type))
      let high = KeyText.text(of: OrderedNumber.value(interval.high, attribute.type))
      if interval.isEmpty { return "FALSEPREDICATE" }
      if low == high { return "\(name) == \(low)" }
      if interval.low == all.low { return "\(name) <= \(high)" }
      if interval.high == all.high { return "\(name) >= \(low)" }
      return "\(name) BETWEEN {\(low), \(high)}"
    case .numbers(let set): return "\(name) IN \(set.sorted.count) values"
    case .keys(let set): return "\(name) IN \(set.keys.count) values"
    case .text(_, let `operator`, let operand, let options):
      let comparison = Comparison(
        .path(ValuePath(attribute: name)), `operator`, .value(.string(operand)), options: options)
      return ConditionPrinter.text(.comparison(comparison))
    case .key(let interval):
      let low = interval.lower.map { "from \(Self.shown($0.element))" } ?? ""
      let high = interval.upper.map { "to \(Self.shown($0.element))" } ?? ""
      return [name, low, high].filter { !$0.isEmpty }.joined(separator: " ")
    }
  }

  private static func shown(_ element: [UInt8]) -> String {
    element.withUnsafeBytes { bytes in
      var decoder = KeyDecoder(bytes)
      return (try? decoder.next()).map { KeyText.text(of: $0) } ?? "?"
    }
  }
}
