internal import LodestoreEssentials
internal import LodestoreFormat

/// The keys that one member of a page's records contains.
struct LinkKeys: Sendable {
  /// The position of the link in the import's links.
  let link: Int
  /// For each record, its number in the page, counted from 1, and its keys.
  var records: [(record: Int, keys: [Value])] = []
}

/// Extracts the keys of links from the records of a page.
struct LinkMembers: Sendable {
  let links: [ImportedLink]
  let place: RecordPlace
  let core: StoreCore

  /// Adds the keys to `page`.
  ///
  /// A key that is not of its attribute's type does not reject the record, and is reported as
  /// unresolved.
  func take(_ data: Data, into page: inout DecodedPage) throws(StoreError) {
    guard !links.isEmpty else { return }
    take(Array(try JSONPage(data, number: page.number, at: place).records), into: &page)
  }

  /// Adds the keys of `records` to `page`.
  func take(_ records: [JSONNode], into page: inout DecodedPage) {
    guard !links.isEmpty else { return }
    let schema = core.schema
    var found = links.indices.map { LinkKeys(link: $0) }
    let types = links.map { link in
      schema.entity(named: link.target)?.description.attribute(named: link.key)?.type
    }
    for (number, record) in records.enumerated() {
      for (position, link) in links.enumerated() {
        guard let type = types[position], let node = record[path: link.member] else { continue }
        found[position].records.append((number + 1, Self.keys(node, type)))
      }
    }
    page.links = found.filter { !$0.records.isEmpty }
  }

  /// The keys in a member's value; for an object, the names of its members.
  private static func keys(_ node: JSONNode, _ type: AttributeType) -> [Value] {
    switch node.kind {
    case .null: []
    case .object: node.members.map { name, _ in Value(text: name, as: type) ?? .string(name) }
    case .array: node.elements.map { key($0, type) }
    case .bool, .integer, .double, .string: [key(node, type)]
    }
  }

  /// The key in one value.
  ///
  /// A value that the key's attribute cannot take becomes a value of another type, which matches no
  /// record.
  private static func key(_ node: JSONNode, _ type: AttributeType) -> Value {
    if let key = try? Value(node, as: type) { return key }
    if let text = node.string { return .string(text) }
    let source = node.withSourceBytes { Array($0.prefix(longestShownValue)) }
    guard Value.string("").fits(type) else {
      return .string(String(decoding: source, as: UTF8.self))
    }
    if let bool = node.bool { return .bool(bool) }
    if let number = node.int64 { return .integer(number) }
    return node.double.map(Value.double) ?? .data(source)
  }

  /// The maximum number of bytes that are kept of a value that is not a key.
  private static let longestShownValue = 100
}
