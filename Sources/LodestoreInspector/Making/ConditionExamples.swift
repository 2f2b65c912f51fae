internal import EntityStore
internal import LodestoreFormat
internal import LodestoreRows

/// Conditions that fit the attributes of an entity, as examples of the grammar.
struct ConditionExamples {
  let texts: [String]

  /// - Parameters:
  ///   - nested: the paths into JSON attributes, of which the first is an example; `nil` for a page
  ///     that shows no examples.
  init(_ entity: DynamicEntity, _ snapshot: DynamicSnapshot, _ nested: NestedPaths?) {
    guard let nested else {
      texts = []
      return
    }
    let attributes = entity.description.declaredAttributes
    let leading = Set(entity.indexes.compactMap(\.description.attributes.first))
    func first(_ types: Set<AttributeType>) -> EntityDescription.Attribute? {
      attributes.first { types.contains($0.type) && leading.contains($0.number) }
        ?? attributes.first { types.contains($0.type) }
    }
    var texts: [String] = []
    if let (name, letter) = Self.beginning(of: entity, snapshot, preferring: leading) {
      texts.append("\(ConditionText.operand(name)) BEGINSWITH[c] \"\(letter)\"")
    }
    if let number = first([.int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64]) {
      texts.append("\(ConditionText.operand(number.name)) > 10")
    } else if let number = first([.double, .float]) {
      texts.append("\(ConditionText.operand(number.name)) > 1.5")
    }
    if let date = first([.date]) {
      texts.append("\(ConditionText.operand(date.name)) > CAST(\"2020-01-01\", \"date\")")
    }
    let inside = nested.paths.first { $0.values.contains { $0 != .null } }
    if let inside, let value = inside.values.first(where: { $0 != .null }),
      let text = ConditionText.equality(inside.text, value)
    {
      texts = texts.prefix(2) + [text]
    }
    if texts.count < 3, let optional = attributes.first(where: \.isOptional) {
      texts.append("\(ConditionText.operand(optional.name)) == NULL")
    }
    self.texts = Array(texts.prefix(3))
  }

  /// A text attribute, and the first letter or digit of its value in the first record.
  ///
  /// Addresses are left out, because they all begin alike.
  private static func beginning(
    of entity: DynamicEntity, _ snapshot: DynamicSnapshot, preferring leading: Set<UInt32>
  ) -> (name: String, letter: Character)? {
    let attributes = entity.description.declaredAttributes.filter { $0.type == .string }
    var found: (name: String, letter: Character)?
    try? snapshot.forEachRecord(of: entity) { record in
      let reader = try record.reader()
      for attribute in attributes where found == nil || leading.contains(attribute.number) {
        guard case .string(let text) = try reader.value(of: attribute),
          let letter = text.first, letter.isLetter || letter.isNumber, !text.contains("://")
        else { continue }
        found = (attribute.name, letter)
        if leading.contains(attribute.number) { break }
      }
      return false
    }
    return found
  }
}
