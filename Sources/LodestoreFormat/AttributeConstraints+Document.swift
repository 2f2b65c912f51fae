// Constraints as members of an attribute object, for reading and writing. See Format.md,
// "Catalogue".

extension AttributeConstraints {
  /// The members of an attribute object that describe these constraints.
  var members: [String: Document] {
    var members: [String: Document] = [:]
    if minimum != .null { members["minimum"] = EntityDescription.document(of: minimum) }
    if maximum != .null { members["maximum"] = EntityDescription.document(of: maximum) }
    if let minLength { members["minLength"] = .integer(Int64(minLength)) }
    if let maxLength { members["maxLength"] = .integer(Int64(maxLength)) }
    if let pattern { members["pattern"] = .string(pattern) }
    return members
  }

  /// Reads the constraints of an attribute object; throws if one does not fit `type` or contradicts
  /// another.
  init(
    reading object: inout CatalogueReader, of attribute: String, _ type: AttributeType
  ) throws(FormatError) {
    func bound(_ member: String) throws(FormatError) -> Value {
      guard let bound = object.take(member), bound != .null else { return .null }
      let value = EntityDescription.value(of: bound, for: type)
      try require(
        value != .null, "attribute '\(attribute)' has a '\(member)' that is no \(type.name)",
        .constraintBounds)
      return value
    }
    func length(_ member: String) throws(FormatError) -> Int? {
      guard let length = object.take(member) else { return nil }
      guard case .integer(let value) = length else {
        throw FormatError(
          "attribute '\(attribute)' has a '\(member)' that is no integer", .constraintMembers)
      }
      return Int(value)
    }
    minimum = try bound("minimum")
    maximum = try bound("maximum")
    minLength = try length("minLength")
    maxLength = try length("maxLength")
    if let pattern = object.take("pattern") {
      guard let text = pattern.text else {
        throw FormatError(
          "attribute '\(attribute)' has a 'pattern' that is no text", .constraintMembers)
      }
      self.pattern = text
    }
    if let fault = fault(for: type) {
      let isForType =
        (!hasRange || type.hasOrder) && (!hasLength || type.hasLength)
        && (pattern == nil || type == .string)
      throw FormatError(
        "attribute '\(attribute)' \(fault)", isForType ? .constraintBounds : .constraintType)
    }
  }
}
