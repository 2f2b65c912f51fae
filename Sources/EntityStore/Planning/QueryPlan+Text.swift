internal import LodestoreBytes
internal import LodestoreFormat

extension QueryPlan {
  var description: PlanDescription {
    var lines = access.lines(entity)
    func add(_ title: String, _ text: String) { lines.append(.init(title, text)) }
    if case .index(let access) = access, let filter = access.filter {
      add("check", "on each entry: \(filter.condition.text)")
    }
    switch (access, residual) {
    case (.nothing, _): break
    case (_, let residual?): add("check", "on each record: \(residual.text)")
    case (.index, nil), (.elements, nil), (.related, nil), (.search, nil), (.place, nil),
      (.vectors, nil), (.union, nil), (.intersection, nil):
      add("check", "nothing more: the entries say it all")
    case (.scan, nil), (.ids, nil), (.idRange, nil): break
    }
    add("order", arrangementText)
    if let limit = request.limit {
      add("limit", "\(limit)\(request.offset > 0 ? " from \(request.offset)" : "")")
    } else if request.offset > 0 {
      add("offset", "\(request.offset)")
    }
    if let alternative {
      let other = alternative.plan.access.lines(entity).first.map { "\($0.title) \($0.text)" }
      add("else", "after \(alternative.recordLimit) records without an end: \(other ?? "")")
    }
    let entries = access.estimatedEntryCount(recordCount)
    return PlanDescription(
      lines: lines,
      index: access.indexNames.isEmpty ? nil : access.indexNames.joined(separator: ", "),
      isScan: isScan, estimatedEntryCount: isScan ? 0 : entries,
      estimatedRecordCount: isScan ? recordCount : estimatedMatchCount)
  }

  private var arrangementText: String {
    func backwards(_ isReversed: Bool) -> String { isReversed ? ", backwards" : "" }
    switch arrangement {
    case .natural(let isReversed) where order.isByID, .index(let isReversed) where order.isByID:
      return "by _id\(backwards(isReversed))"
    case .merge(let isReversed):
      return "of the index within each key\(backwards(isReversed)), merged"
    case .index(let isReversed): return "of the index\(backwards(isReversed))"
    case .ranked:
      if case .search = access { return "by the score of the search" }
      return "by the distance, the nearest first"
    case .natural(let isReversed): return "as found\(backwards(isReversed))"
    case .groups(let groups):
      return "of the index\(backwards(groups.isReversed)), "
        + "those equal in it sorted by \(order.text)"
    case .sort(let kept):
      return "sorted by \(order.text)\(kept.map { ", keeping the first \($0)" } ?? "")"
    }
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
    case .search(let access):
      [access.search.index.entries.name] + (access.beside?.path.indexNames ?? [])
    case .place(let access): [access.place.index.entries.name]
    case .vectors(let access):
      [access.vector.index.entries.name] + (access.within?.indexNames ?? [])
    case .nothing, .scan, .ids, .idRange: []
    }
  }

  func estimatedEntryCount(_ recordCount: Int) -> Int {
    switch self {
    case .nothing, .scan, .ids, .idRange: 0
    case .index(let access), .elements(let access): access.estimatedEntryCount
    case .related(let access): access.estimatedLinkCount
    case .search(let access): access.estimatedMatchCount
    case .place(let access): access.estimatedEntryCount
    case .vectors(let access): access.estimatedMatchCount
    case .union(let paths): paths.reduce(0) { $0 + $1.estimatedEntryCount(recordCount) }
    case .intersection(let accesses): accesses.reduce(0) { $0 + $1.estimatedEntryCount }
    }
  }

  func lines(_ entity: StoredEntity) -> [PlanDescription.Line] {
    switch self {
    case .nothing: [.init("read", "nothing: the condition is never true")]
    case .scan: [.init("scan", "all records of \(entity.name)")]
    case .ids(let ids):
      [.init("look up", "\(ids.count) \(ids.count == 1 ? "record" : "records") by _id")]
    case .idRange(let range):
      [.init("scan", "_id \(range.lowerBound) to \(Self.end(range.upperBound))")]
    case .index(let access), .elements(let access): [.init("index", access.text)]
    case .related(let access): access.lines
    case .search(let access):
      [.init("search", access.text)]
        + (access.beside?.path.lines(entity).map { .init("among", "\($0.title) \($0.text)") } ?? [])
    case .place(let access): [.init("places", access.text)]
    case .vectors(let access): access.lines(entity)
    case .union(let paths):
      [.init("union", "of \(paths.count) \(isOfIndexes ? "index ranges" : "ways")")]
        + paths.prefix(8).flatMap { $0.lines(entity) }
    case .intersection(let accesses):
      [.init("both", "records that \(accesses.count) indexes lead to")]
        + accesses.map { .init("index", $0.text) }
    }
  }

  private var isOfIndexes: Bool {
    guard case .union(let paths) = self else { return false }
    return paths.allSatisfy { if case .index = $0 { true } else { false } }
  }

  private static func end(_ id: UInt64) -> String { id == .max ? "the end" : "\(id)" }
}

extension RelatedAccess {
  fileprivate var lines: [PlanDescription.Line] {
    let name = target.entity.name
    var lines = target.access.lines(target.entity)
    if let residual = target.residual {
      lines.append(.init("check", "on each \(name): \(residual.text)"))
    }
    let links = "of \(test.end.label), back from \(name), about \(estimatedLinkCount)"
    return lines + [.init("links", links)]
  }
}

extension IndexAccess {
  /// The access as text, such as `Pod.name: "AF" to "AG", about 12 entries`.
  var text: String {
    let about = "about \(estimatedEntryCount) \(estimatedEntryCount == 1 ? "entry" : "entries")"
    switch span {
    case .points(let keys), .prefixes(let keys):
      if keys.count == 1 { return "\(index.name) at \(Self.display(keys[0])), \(about)" }
      return "\(index.name) at \(keys.count) keys, \(about)"
    case .ranges(let ranges):
      if ranges.count != 1 { return "\(index.name) in \(ranges.count) ranges, \(about)" }
      if ranges[0] == .all { return "\(index.name), all of it, \(about)" }
      let upper = ranges[0].upper.map { "to \(Self.display($0))" } ?? "to the end"
      return "\(index.name) from \(Self.display(ranges[0].lower)) \(upper), \(about)"
    }
  }

  /// Returns the values of a bound as text.
  private static func display(_ bytes: [UInt8]) -> String {
    bytes._withBytes { bytes in
      var decoder = KeyDecoder(bytes)
      var parts: [String] = []
      while !decoder.isAtEnd {
        let start = decoder.offset
        guard let value = try? decoder.next() else {
          // The last value is a text that the bound gives only up to a prefix.
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
  /// The condition as text for plans, similar to the format string.
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
    case .search(let search): search.text
    case .proximity(let place): place.text
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
      let low = interval.lower.map { "from \(Self.display($0.element))" } ?? ""
      let high = interval.upper.map { "to \(Self.display($0.element))" } ?? ""
      return [name, low, high].filter { !$0.isEmpty }.joined(separator: " ")
    }
  }

  private static func display(_ element: [UInt8]) -> String {
    element._withBytes { bytes in
      var decoder = KeyDecoder(bytes)
      return (try? decoder.next()).map { KeyText.text(of: $0) } ?? "?"
    }
  }
}

extension RelatedTest {
  var text: String {
    let name = end.name ?? "?"
    return isOfExistence ? "\(name).@count > 0" : "ANY \(name) (\(condition.text))"
  }
}
