internal import LodestoreBytes
internal import LodestoreFormat

/// Checks records that are about to be written against the constraints of their attributes, and
/// against the place indexes and vector indexes that refuse values.
///
/// Created once for a stored entity. The check reads only the attributes that have constraints, in
/// the encoded record.
struct RecordValidator: Sendable {
  fileprivate struct Check: Sendable {
    var attribute: String
    var slot: RecordLayout.Slot
    var constraints: AttributeConstraints
    var expression: RegularExpression?
  }

  private let entity: String
  private let layout: RecordLayout
  private let checks: [Check]
  /// The entity, if it has an index that refuses values.
  private let described: EntityDescription?

  /// Returns `nil` when no attribute has a constraint, and no index refuses values.
  ///
  /// Throws for a pattern that is not a regular expression.
  ///
  /// - Parameter layout: the layout in which records are written.
  init?(_ description: EntityDescription, _ layout: RecordLayout) throws(FormatError) {
    var checks: [Check] = []
    for (attribute, slot) in zip(layout.attributes, layout.slots) {
      guard let attribute = description.attribute(number: attribute.number),
        !attribute.constraints.isEmpty
      else { continue }
      checks.append(
        Check(
          attribute: attribute.name, slot: slot, constraints: attribute.constraints,
          expression: try Self.expression(of: attribute)))
    }
    let refuses =
      description.computedIndexes.contains {
        $0.kind == .vector || $0.kind == .place && !$0.admitsInvalid
      }
    if checks.isEmpty, !refuses { return nil }
    described = refuses ? description : nil
    entity = description.name
    self.layout = layout
    self.checks = checks
  }

  private static func expression(
    of attribute: EntityDescription.Attribute
  ) throws(FormatError) -> RegularExpression? {
    guard let pattern = attribute.constraints.pattern else { return nil }
    do {
      return try RegularExpression(pattern, isCaseless: false)
    } catch {
      throw FormatError("the pattern of attribute '\(attribute.name)': \(error.message)")
    }
  }

  /// Throws ``StoreError/Code/invalidValue`` with all attributes that break a constraint.
  ///
  /// - Parameter id: the id of the stored record to be changed; `nil` for a new one.
  /// - Complexity: O(*bytes* of the attributes with constraints); for a pattern, multiplied by its
  ///   length.
  func check(_ view: RecordView, id: UInt64?) throws(StoreError) {
    precondition(view.layout === layout, "a record is checked in the layout it is written in")
    var violations: [RuleViolation] = []
    var detail = ""
    for check in checks where !view.isNull(check.slot) {
      do {
        guard let rule = try check.brokenRule(view) else { continue }
        violations.append(
          RuleViolation(entity: entity, recordID: id, attribute: check.attribute, rule: rule))
        let value = KeyText.detail(of: try view.value(at: check.slot))
        detail += detail.isEmpty ? value : ", " + value
      } catch {
        throw .damagedRecord(entity: entity, recordID: id ?? 0, error)
      }
    }
    if let described {
      try checkPlaces(view, id, described, &violations)
      checkVectors(view, id, described, &violations)
    }
    if !violations.isEmpty { throw .broken(violations, detail: detail) }
  }

  private func checkPlaces(
    _ view: RecordView, _ id: UInt64?, _ described: EntityDescription,
    _ violations: inout [RuleViolation]
  ) throws(StoreError) {
    for index in described.computedIndexes where index.kind == .place && !index.admitsInvalid {
      do {
        guard case .invalid(let source) = try IndexedPlace(of: index, in: view, described) else {
          continue
        }
        violations.append(
          RuleViolation(
            entity: entity, recordID: id, attribute: described.sourceNames(index)[source],
            rule: source == 0
              ? "be a latitude from -90 to 90 degrees" : "be a longitude from -180 to 180 degrees"))
      } catch {
        throw .damagedRecord(entity: entity, recordID: id ?? 0, error)
      }
    }
  }
}

extension RecordValidator {
  private func checkVectors(
    _ view: RecordView, _ id: UInt64?, _ described: EntityDescription,
    _ violations: inout [RuleViolation]
  ) {
    for index in described.computedIndexes where index.kind == .vector {
      guard case .invalid(let rule) = IndexedVector(of: index, in: view, described) else {
        continue
      }
      violations.append(
        RuleViolation(
          entity: entity, recordID: id, attribute: described.sourceNames(index)[0], rule: rule))
    }
  }
}

extension RecordValidator.Check {
  /// The requirement that the value does not meet, in words; `nil` when it meets all.
  fileprivate func brokenRule(_ view: RecordView) throws(FormatError) -> String? {
    if constraints.hasRange, let breach = constraints.breach(of: try view.value(at: slot)) {
      return rule(breach)
    }
    if constraints.hasLength, let rule = brokenLength(view.variableBytes(slot)) { return rule }
    if let expression, !expression.admits(view.variableBytes(slot)) {
      return "match '\((constraints.pattern ?? "").prefix(60))'"
    }
    return nil
  }

  private func rule(_ breach: AttributeConstraints.RangeBreach) -> String {
    switch breach {
    case .notANumber: slot.type == .date ? "be a date" : "be a number"
    case .tooLow: "be at least \(KeyText.text(of: constraints.minimum))"
    case .tooHigh: "be at most \(KeyText.text(of: constraints.maximum))"
    }
  }

  private func brokenLength(_ bytes: ByteView) -> String? {
    let least = constraints.minLength ?? 0
    let most = constraints.maxLength ?? .max
    // A scalar has one to four bytes of UTF-8, so the byte count alone often shows that the number
    // of scalars is allowed.
    let isText = slot.type != .data
    if bytes.count <= most, (isText ? bytes.count / 4 : bytes.count) >= least { return nil }
    let length = isText ? bytes.reduce(0) { $0 + ($1 & 0xc0 == 0x80 ? 0 : 1) } : bytes.count
    if length < least { return "have at least \(count(least))" }
    if length > most { return "have at most \(count(most))" }
    return nil
  }

  private func count(_ number: Int) -> String {
    "\(number) \(slot.type == .data ? "byte" : "Unicode scalar")\(number == 1 ? "" : "s")"
  }
}
