internal import EntityStore
internal import LodestoreFormat
internal import LodestoreRows

/// The query for a selection of an entity's records.
struct SelectedQuery {
  let snapshot: DynamicSnapshot
  let entity: DynamicEntity
  let selection: Selection

  /// The request with the condition and the order of the selection.
  ///
  /// - Throws: `StoreError.Code.invalidQuery` for a faulty condition, with positions in the
  ///   condition of the address.
  func request() throws -> QueryRequest {
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
    let sources = try position(among: entity.searchIndexes).map {
      description.sourceNames(description.searchIndexes[$0])
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

  /// The position of the index that the selection names among those of one kind, or else of the
  /// first; `nil` for an empty list.
  func position(among indexes: [DynamicIndex]) throws(AddressError) -> Int? {
    let all = PageReading.indexes(of: entity).map(\.shortName)
    if let unknown = selection.indexes.first(where: { !all.contains($0) }) {
      throw .notFound(
        PageReading.missing("\(entity.name) has no index", unknown, among: all))
    }
    let named = indexes.firstIndex { selection.indexes.contains($0.shortName) }
    return named ?? (indexes.isEmpty ? nil : 0)
  }

  /// The distance by which the records are ordered unless the selection has another order.
  func measure() throws -> DistanceMeasure? {
    if let near = selection.near {
      return .place(near.place, position: try position(among: entity.placeIndexes) ?? 0)
    }
    guard let id = selection.similar else { return nil }
    guard let position = try position(among: entity.vectorIndexes) else {
      throw AddressError.notFound("\(entity.name) has no vector index")
    }
    guard let record = try snapshot.record(id, of: entity) else {
      throw AddressError.notFound("\(entity.name) has no record \(id)")
    }
    let name = entity.vectorIndexes[position].shortName
    guard let vector = entity.vector(in: try record.reader(), by: position) else {
      throw AddressError.notFound("\(entity.name) \(id) has no vector in the index '\(name)'")
    }
    return .vector(vector, position: position)
  }

  /// The request for the records that are also in the area, near the place, or similar.
  ///
  /// The nearest come first unless the selection has an order.
  private func placed(_ request: QueryRequest) throws -> QueryRequest {
    var result = request
    if let box = selection.box {
      let position = try position(among: entity.placeIndexes)
      result = result.within(box, by: names(position, entity.description.placeIndexes))
    }
    switch try measure() {
    case .place(let place, let position):
      result = result.near(
        place, meters: selection.near?.meters,
        by: names(position, entity.description.placeIndexes))
    case .vector(let vector, let position):
      result = result.near(
        vector, by: DistanceMeasure.ofVectors,
        in: names(position, entity.description.vectorIndexes))
    case nil: break
    }
    if !selection.order.isEmpty { result.order = request.order }
    return result
  }

  /// The names that lead to the first source of an index; empty for none, which queries refuse.
  private func names(
    _ position: Int?, _ indexes: [EntityDescription.ComputedIndex]
  ) -> [String] {
    guard let position, indexes.indices.contains(position),
      let source = indexes[position].sources.first,
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

/// A distance of records, from a place or between vectors.
enum DistanceMeasure: Sendable {
  /// The measure of vectors on all pages.
  static let ofVectors = VectorMeasure.cosine

  /// - Parameter position: the position of the place index.
  case place(Coordinate, position: Int)
  case vector(Vector, position: Int)

  /// The unit or the measure, for the heading of a column.
  var unit: String {
    switch self {
    case .place: "meters"
    case .vector: "cosine"
    }
  }

  /// The distance of a record; absent if the record has none.
  func distance(
    of entity: DynamicEntity, _ reader: DynamicRecord.Reader
  ) throws -> Cell {
    switch self {
    case .place(let center, let position):
      let place = try entity.place(in: reader, by: position)
      return place.map { .count(Int($0.distance(to: center).rounded())) } ?? .absent
    case .vector(let vector, let position):
      let distance = entity.vector(in: reader, by: position).flatMap {
        vector.distance(to: $0, by: Self.ofVectors)
      }
      return distance.map { .double(($0 * 1e6).rounded() / 1e6) } ?? .absent
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
