internal import EntityStore
internal import LodestoreFormat
internal import LodestoreRows

/// The query for a selection of an entity's records.
struct SelectedQuery {
  let snapshot: DynamicSnapshot
  let entity: DynamicEntity
  let selection: Selection

  /// The measure by which records are similar.
  private static let measure = VectorMeasure.cosine

  /// The request with the condition and the order of the selection.
  ///
  /// - Throws: `StoreError.Code.invalidQuery` for a faulty condition, with positions in the
  ///   condition of the address; ``AddressError`` for a text that is no place.
  func request() throws -> QueryRequest {
    if let error = selection.unreadable.first?.error { throw error }
    var request = try QueryRequest(format: selection.condition)
    request.order = try order()
    var parts = selection.condition.map { ["(\n\($0)\n)"] } ?? []
    if let id = selection.similar { parts.append("\(DynamicRecord.idName) != \(id)") }
    if !selection.matches.isEmpty || selection.similar != nil {
      // The condition of the address is planned alone first, so that positions are those in it.
      _ = try snapshot.query(request, of: entity)
      parts += try selection.matches.map(comparison)
      let order = request.order
      request = try QueryRequest(format: parts.joined(separator: " AND "))
      request.order = order
    }
    if let text = selection.search { request = try searched(request, text) }
    request = try placed(request)
    request.after = selection.after.map { ContinuationToken($0) }
    return request
  }

  /// The request for the records that also have the words of `text` in a search index.
  ///
  /// The best come first unless the request has an order, or its condition has a search too.
  private func searched(_ request: QueryRequest, _ text: String) throws -> QueryRequest {
    let description = entity.description
    let sources = try position(.search).map {
      description.sourceNames(description.declaredIndexes(.search)[$0])
    }
    var result = request.searching(text, selection.mode, in: sources ?? [])
    let order = result.order
    result.order = request.order
    if result.order.isEmpty {
      _ = try snapshot.query(result, of: entity)
      var scored = result
      scored.order = order
      if (try? snapshot.query(scored, of: entity)) != nil { result = scored }
    }
    return result
  }

  // MARK: Places and vectors

  /// The position of the selected index in the list of declared ones; `nil` for an empty list.
  ///
  /// Without a name in the selection, the first index is used.
  func position(
    _ kind: EntityDescription.ComputedIndex.Kind
  ) throws(AddressError) -> Int? {
    let description = entity.description
    let all = PageReading.indexes(of: entity).map(\.shortName) + description.buildingNames
    if let unknown = selection.indexes.first(where: { !all.contains($0) }) {
      throw .notFound(
        PageReading.missing("\(entity.name) has no index", unknown, among: all))
    }
    let names = description.declaredIndexes(kind).map(description.indexName)
    return names.firstIndex(where: selection.indexes.contains) ?? (names.isEmpty ? nil : 0)
  }

  /// The vector of a record, to which others are similar.
  private func vector(of id: UInt64) throws -> Vector {
    guard let position = try position(.vector) else {
      throw AddressError.notFound("\(entity.name) has no vector index")
    }
    guard let record = try snapshot.record(id, of: entity) else {
      throw AddressError.notFound("\(entity.name) has no record \(id)")
    }
    guard let vector = entity.vector(in: try record.reader(), by: position) else {
      let index = entity.description.declaredIndexes(.vector)[position]
      let name = entity.description.indexName(index)
      throw AddressError.notFound("\(entity.name) \(id) has no vector in the index '\(name)'")
    }
    return vector
  }

  /// The request for the records that are also in the area, near the place, or similar.
  ///
  /// The nearest come first unless the selection has an order. A `NEAR` in the condition of the
  /// address orders the records too, unless the selection has a search.
  private func placed(_ request: QueryRequest) throws -> QueryRequest {
    var result = request
    if let box = selection.box { result = result.within(box, by: try names(.place)) }
    if let near = selection.near {
      result = result.near(near.place, meters: near.meters, by: try names(.place))
    } else if let id = selection.similar {
      result = result.near(try vector(of: id), by: Self.measure, in: try names(.vector))
    } else if selection.condition != nil, result.order.isEmpty,
      try snapshot.query(result, of: entity).distance != nil
    {
      result = result.nearestFirst
    }
    if !selection.order.isEmpty { result.order = request.order }
    return result
  }

  /// The names that lead to the first source of an index of a kind; empty for none, which queries
  /// refuse.
  private func names(
    _ kind: EntityDescription.ComputedIndex.Kind
  ) throws(AddressError) -> [String] {
    guard let position = try position(kind),
      let source = entity.description.declaredIndexes(kind)[position].sources.first,
      let attribute = entity.description.attribute(number: source.attribute)
    else { return [] }
    return [attribute.name] + source.path
  }

  private func comparison(_ match: Selection.Match) throws(AddressError) -> String {
    if match.path == DynamicRecord.idName {
      guard let id = UInt64(match.text) else { throw .badParameter(match.path, match.text) }
      return "\(match.path) == \(id)"
    }
    guard let path = ValuePath(match.path, of: entity) else { throw .unknownParameter(match.path) }
    let operand = path.leadsInside ? match.path : ConditionText.operand(match.path)
    return "\(operand) == \(try literal(match, try type(of: match.path, in: entity)))"
  }

  /// The type of the attribute at the end of a path, or of the JSON attribute on its way.
  private func type(
    of path: String, in entity: DynamicEntity
  ) throws(AddressError) -> AttributeType {
    let parts = path.split(separator: ".", maxSplits: 1).map(String.init)
    let name = parts.first ?? path
    let relationship = snapshot.relationships(of: entity).first { $0.name == name }
    if let relationship, parts.count == 2 { return try type(of: parts[1], in: relationship.target) }
    if let attribute = entity.description.attribute(named: path)
      ?? entity.description.attribute(named: name)
    {
      return attribute.type
    }
    if path == DynamicRecord.idName || relationship != nil { return .recordID }
    let known = entity.description.declaredAttributes.map(\.name)
    throw .notFound(PageReading.missing("\(entity.name) has no attribute", name, among: known))
  }

  private func literal(
    _ match: Selection.Match, _ type: AttributeType
  ) throws(AddressError) -> String {
    switch type {
    case .json, .document: return Self.jsonLiteral(match.text)
    case .string, .url: return ConditionText.quoted(match.text)
    default:
      if match.text == "null" { return "NULL" }
      guard let value = Value(text: match.text, as: type),
        let literal = ConditionText.literal(value)
      else {
        throw .notFound("'\(match.text)' is not a value of '\(match.path)', which is \(type.name)")
      }
      return literal
    }
  }

  /// The literal for a value inside JSON: a number, a word of JSON, or else a text.
  private static func jsonLiteral(_ text: String) -> String {
    switch text {
    case "null": "NULL"
    case "true": "TRUE"
    case "false": "FALSE"
    default: Int64(text) != nil ? text : ConditionText.quoted(text)
    }
  }

  private func order() throws(AddressError) -> [SortTerm] {
    var terms: [SortTerm] = []
    for text in selection.order {
      let isDescending = text.hasPrefix("-")
      let path = isDescending ? String(text.dropFirst()) : text
      guard let expression = DynamicExpression(path, of: entity) else {
        throw .notFound("'\(path)' is not a path by which records can be sorted")
      }
      terms.append(SortTerm(expression, isDescending: isDescending, options: []))
    }
    return terms
  }
}

extension Notice {
  /// The fault of a selection, for which the store has no answer; `nil` for another error.
  init?(fault error: any Error, of selection: Selection) {
    switch error {
    case let error as StoreError where error.code == .invalidQuery:
      self.init(error, in: selection.condition)
    case let error as AddressError where selection.unreadable.contains { $0.error == error }:
      self.init(.error, error.message)
    default: return nil
    }
  }
}

extension SelectionForm {
  /// Marks the condition as faulty, at the place that a notice shows.
  mutating func markFault(_ notice: Notice) {
    guard let excerpt = notice.excerpt else { return }
    isFaulty = true
    // The field shows one line, so the place in a condition of several lines is another one.
    guard let condition = selection.condition, !condition.contains(where: \.isNewline) else {
      return
    }
    let start = excerpt.before.utf16.count
    fault = start..<(start + max(excerpt.fault.utf16.count, 1))
  }
}

extension Notice {
  /// The fault in a condition, with its line divided at its column.
  init(_ error: StoreError, in condition: String?) {
    self.init(.error, error.message)
    guard let condition, let position = error.formatPosition else { return }
    let lines = condition.unicodeScalars.split(
      separator: "\n", omittingEmptySubsequences: false)
    guard lines.indices.contains(position.line - 1) else { return }
    let line = lines[position.line - 1]
    guard position.column >= 1, position.column - 1 <= line.count else { return }
    excerpt = Excerpt(
      line: position.line, column: position.column,
      before: String(line.prefix(position.column - 1)),
      after: String(line.dropFirst(position.column - 1)))
  }
}
