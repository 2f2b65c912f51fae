internal import EntityStore
internal import LodestoreBytes
internal import LodestoreFormat
internal import LodestoreRows

/// The values of one record in a form or an object, read by the entity's schema.
struct EditValues {
  let entity: DynamicEntity
  /// The entities to which attributes lead, by the attribute's name.
  private let targets: [String: String]
  /// The attributes that take values.
  let attributes: [EntityDescription.Attribute]

  /// The maximum length of a text that a form has.
  private static let longest = 100_000

  init(_ entity: DynamicEntity, _ snapshot: DynamicSnapshot) {
    self.entity = entity
    targets = Dictionary(
      snapshot.relationships(of: entity).filter(\.isToOne).compactMap { relationship in
        relationship.name.map { ($0, relationship.target.name) }
      }, uniquingKeysWith: { first, _ in first })
    attributes = entity.description.declaredAttributes.filter { $0.derivation == nil }
  }

  /// The values of a record, in the order of ``attributes``.
  func current(_ record: DynamicRecord) throws -> [Value] {
    let reader = try record.reader(verifyingChecksum: true)
    return try attributes.map { try reader.value(of: $0) }
  }

  // MARK: The form

  /// The fields of a form.
  ///
  /// - Parameters:
  ///   - values: the present values, or the default values of a new record.
  ///   - input: the answer to an earlier form, whose texts stay.
  func fields(
    _ values: [Value], _ input: ChangeInput?, _ faults: [(attribute: String, reason: String)]
  ) -> [EditForm.Field] {
    zip(attributes, values).map { attribute, value in
      let shown = Self.text(of: value, in: attribute)
      let given = input?.text("value.\(attribute.name)")
      let wasSent = given != nil
      var field = EditForm.Field(
        name: "value.\(attribute.name)", label: attribute.name,
        type: RecordColumns.typeName(of: attribute, target: targets[attribute.name]),
        text: given ?? shown ?? "", isLong: Self.isText(attribute), null: nil)
      if attribute.isOptional {
        let name = "null.\(attribute.name)"
        field.null = (name, wasSent ? input?.text(name) != nil : value == .null)
      }
      let reasons = faults.filter { $0.attribute == attribute.name }.map(\.reason)
      field.fault = reasons.isEmpty ? nil : reasons.joined(separator: "; ")
      if shown == nil {
        field.name = ""
        field.hint =
          "The value is too long for a form, or has characters that a form cannot have. Send it "
          + "as JSON."
      } else if targets[attribute.name] != nil {
        field.hint = "The id of a record."
      }
      return field
    }
  }

  private static func isText(_ attribute: EntityDescription.Attribute) -> Bool {
    switch attribute.type {
    case .string, .json, .document, .data: true
    default: false
    }
  }

  /// The text of a value in a form; `nil` if a form cannot have it.
  private static func text(of value: Value, in attribute: EntityDescription.Attribute) -> String? {
    if value == .null { return "" }
    let text: String
    if case .document(let bytes) = value {
      var json: [UInt8] = []
      guard (try? bytes._withBytes { try DocumentText.append($0, to: &json) }) != nil else {
        return nil
      }
      text = String(decoding: json, as: UTF8.self)
    } else {
      guard let plain = (try? Cell(value)).flatMap(PlainText.text) else { return nil }
      text = plain
    }
    let isShowable = text.unicodeScalars.allSatisfy {
      $0 == "\n" || $0 == "\t" || $0.value >= 0x20
    }
    return isShowable && text.utf8.count <= longest ? text : nil
  }

  // MARK: Reading

  /// The values that differ from the present ones, by attribute.
  ///
  /// - Parameter present: the present values; `nil` for a new record, of which all values differ.
  /// - Throws: ``ChangeRefusal`` with all values that do not fit.
  func read(
    _ input: ChangeInput, over present: [Value]?
  ) throws(ChangeRefusal) -> [(name: String, value: Value)] {
    var values: [(name: String, value: Value)] = []
    var faults: [(attribute: String, reason: String)] = []
    for (position, attribute) in attributes.enumerated() {
      do throws(ValueFault) {
        let old = present?[position]
        let value =
          switch input {
          case .form(let items): try read(attribute, items, over: old)
          case .json(let object): try Self.read(attribute, object)
          }
        if let value, value != old { values.append((attribute.name, value)) }
        if value == nil, present == nil, attribute.defaultValue == .null, !attribute.isOptional {
          throw ValueFault(reason: "is required and was not given")
        }
      } catch {
        faults.append((attribute.name, error.reason))
      }
    }
    if case .json(let object) = input {
      let known = attributes.map(\.name)
      for (name, _) in object.members where !known.contains(name) {
        let hint = NearestName.of(name, among: known).map { "; did you mean '\($0)'?" } ?? ""
        faults.append((name, "is no attribute that takes a value\(hint)"))
      }
    }
    guard faults.isEmpty else { throw ChangeRefusal(faults) }
    return values
  }

  private struct ValueFault: Error {
    var reason: String
  }

  private func read(
    _ attribute: EntityDescription.Attribute, _ items: [String: String], over old: Value?
  ) throws(ValueFault) -> Value? {
    guard let text = items["value.\(attribute.name)"] else { return nil }
    let isNull = attribute.isOptional && items["null.\(attribute.name)"] != nil
    let shown = Self.text(of: old ?? attribute.defaultValue, in: attribute)?.withUnixLineEnds
    // A changed text is meant, whatever the choice of null was before.
    let isChanged = text != shown
    if let old, !isChanged, isNull == (old == .null) { return nil }
    if isNull, !isChanged || text.isEmpty { return .null }
    if text.isEmpty, attribute.isOptional, attribute.type != .string { return .null }
    if text == "null", !attribute.isOptional, !attribute.type.isIndexable { return .nullDocument }
    do {
      return try TypedText.value(text, of: attribute)
    } catch {
      throw ValueFault(reason: error.reason)
    }
  }

  private static func read(
    _ attribute: EntityDescription.Attribute, _ object: JSONNode
  ) throws(ValueFault) -> Value? {
    guard let node = object[attribute.name] else { return nil }
    let value: Value
    do {
      value = try Value(node, as: attribute.type)
    } catch {
      throw ValueFault(reason: error.description)
    }
    guard value == .null, !attribute.isOptional else { return value }
    switch attribute.type {
    case .json, .document: return .nullDocument
    default: throw ValueFault(reason: "is required and is never null")
    }
  }
}
