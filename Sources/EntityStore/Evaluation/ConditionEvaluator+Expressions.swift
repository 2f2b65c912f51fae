internal import LodestoreFormat

extension ConditionEvaluator {
  /// Returns whether a comparison of expressions is true for the record.
  func evaluate(_ comparison: BoundComparison, _ record: RecordUnderTest) throws -> Bool {
    if let answer = try cased(comparison, record) { return answer }
    let left = try value(comparison.left, record)
    let right = try value(comparison.right, record)
    guard let quantifier = comparison.quantifier else {
      return try compare(left, right, comparison)
    }
    // A scalar counts as a collection of one element, null as an empty collection.
    let elements = try left.elements() ?? (left.isNull ? [] : [left])
    switch quantifier {
    case .any:
      for element in elements { if try compare(element, right, comparison) { return true } }
      return false
    case .all:
      for element in elements { if try !compare(element, right, comparison) { return false } }
      return true
    }
  }

  /// Evaluates a comparison such as `lowercase(name) == "a"` by bytes; returns `nil` for every
  /// other comparison.
  ///
  /// Both texts must be ASCII.
  ///
  /// Creating a string for each record would take longer than the rest of the comparison.
  private func cased(_ comparison: BoundComparison, _ record: RecordUnderTest) throws -> Bool? {
    let isEqual = comparison.operator == .equal
    guard isEqual || comparison.operator == .notEqual, comparison.quantifier == nil,
      comparison.options.isEmpty, case .call(let function, let operands) = comparison.left,
      let letters = function.changedLetters, operands.count == 1,
      case .attribute(let attribute, let steps) = operands[0], steps.isEmpty,
      case .value(.string(var constant)) = comparison.right,
      case .text(let text) = try value(of: attribute, record)
    else { return nil }
    return constant.withUTF8 { other -> Bool? in
      var isSame = other.count == text.count
      for index in text.indices {
        var byte = text[index]
        // A character beyond ASCII may become several characters in another case, or have several
        // equal forms.
        guard byte < 0x80 else { return nil }
        guard isSame else { continue }
        if letters.contains(byte) { byte ^= 0x20 }
        isSame = byte == other[index]
      }
      if isSame { return isEqual }
      return other.allSatisfy { $0 < 0x80 } ? !isEqual : nil
    }
  }

  private func compare(
    _ left: DynamicValue, _ right: DynamicValue, _ comparison: BoundComparison
  ) throws -> Bool {
    let options = comparison.options
    switch comparison.operator {
    case .equal: return try DynamicValue.areEqual(left, right, options)
    case .notEqual: return try !DynamicValue.areEqual(left, right, options)
    case .less: return try DynamicValue.order(left, right, options).map { $0 < 0 } ?? false
    case .lessOrEqual: return try DynamicValue.order(left, right, options).map { $0 <= 0 } ?? false
    case .greater: return try DynamicValue.order(left, right, options).map { $0 > 0 } ?? false
    case .greaterOrEqual:
      return try DynamicValue.order(left, right, options).map { $0 >= 0 } ?? false
    case .between:
      guard let bounds = try right.elements(), bounds.count == 2,
        let low = try DynamicValue.order(left, bounds[0], options),
        let high = try DynamicValue.order(left, bounds[1], options)
      else { return false }
      return low >= 0 && high <= 0
    case .in: return try isElement(left, of: right, comparison)
    case .contains:
      if let elements = try left.elements() {
        return try elements.contains { try DynamicValue.areEqual($0, right, options) }
      }
      return try testText(left, right, comparison)
    case .beginsWith, .endsWith, .like, .matches: return try testText(left, right, comparison)
    // Binding makes other conditions of searches and places.
    case .search, .searchAny, .searchPrefix, .within, .near: return false
    }
  }

  private func isElement(
    _ value: DynamicValue, of collection: DynamicValue, _ comparison: BoundComparison
  ) throws -> Bool {
    let options = comparison.options
    if let elements = try collection.elements() {
      return try elements.contains { try DynamicValue.areEqual($0, value, options) }
    }
    // IN with a text on the right side is true if that text contains the left one.
    guard let needle = value.string else { return false }
    let test = try pattern(.contains, needle, comparison)
    return collection.withText { test.admits($0) } ?? false
  }

  private func testText(
    _ left: DynamicValue, _ right: DynamicValue, _ comparison: BoundComparison
  ) throws -> Bool {
    if let pattern = comparison.pattern {
      return left.withText { pattern.admits($0) } ?? false
    }
    guard let operation = comparison.operator.textOperation, let operand = right.string else {
      return false
    }
    let test = try pattern(operation, operand, comparison)
    return left.withText { test.admits($0) } ?? false
  }

  private func pattern(
    _ operation: TextTest.Operation, _ operand: String, _ comparison: BoundComparison
  ) throws -> TextTest {
    do {
      return try TextTest(operation, operand, options: comparison.options)
    } catch {
      throw StoreError.badPattern(error, in: comparison.text)
    }
  }

  // MARK: Values

  func value(_ operand: BoundOperand, _ record: RecordUnderTest) throws -> DynamicValue {
    switch operand {
    case .value(let value): return DynamicValue(value)
    case .document(let document): return try DynamicValue(document: document.bytes)
    case .list(let operands): return .list(try operands.map { try value($0, record) })
    case .attribute(let attribute, let steps):
      return try follow(steps[...], from: value(of: attribute, record))
    case .element(let depth, let steps):
      let index = elements.count - 1 - depth
      guard elements.indices.contains(index) else { return .null }
      return try follow(steps[...], from: elements[index])
    case .arithmetic(let op, let left, let right):
      return Arithmetic.value(op, try value(left, record), try value(right, record))
    case .negative(let operand):
      return Arithmetic.value(.subtract, .integer(0), try value(operand, record))
    case .conditional(let test, let yes, let no):
      return try value(try evaluate(test, record) ? yes : no, record)
    case .subquery(let collection, let test, let steps):
      var found: [DynamicValue] = []
      for element in try value(collection, record).elements() ?? [] {
        try onElement?()
        elements.append(element)
        defer { elements.removeLast() }
        if try evaluate(test, record) { found.append(element) }
      }
      return try follow(steps[...], from: .list(found))
    case .related(let operand): return try value(operand, record)
    case .score(let search): return .double(try searchEvaluation(of: search).score(record))
    case .distance(let place):
      return try place.distance(record, entity).map { .double($0) } ?? .null
    case .cast(let operand, let type): return Cast.value(try value(operand, record), to: type)
    case .call(let function, let operands):
      // A single argument is passed without an array, which would take as long as most functions.
      if operands.count == 1, function.takesText {
        return Self.call(function, on: try value(operands[0], record))
      }
      return try call(function, try operands.map { try value($0, record) })
    case .datePart(let part, let operand, let zone):
      guard let date = try value(operand, record).readDate else { return .null }
      return DynamicValue(zone.part(part, of: date))
    }
  }

  private func value(
    of attribute: BoundAttribute, _ record: RecordUnderTest
  ) throws -> DynamicValue {
    if attribute.isRecordID { return DynamicValue(.integer(Int128(record.id))) }
    guard let index = record.view.layout.slotIndex(ofAttribute: attribute.number) else {
      if let document = attribute.initialDocument {
        return try DynamicValue(document: document.bytes)
      }
      return DynamicValue(attribute.initial)
    }
    let slot = record.view.layout.slots[index]
    if record.view.isNull(slot) { return .null }
    switch slot.type {
    case .string, .url: return .text(record.view.variableBytes(slot))
    case .data: return .data(record.view.variableBytes(slot))
    case .json, .document: return try DynamicValue(document: record.view.variableBytes(slot))
    default: return DynamicValue(try record.view.value(at: slot))
    }
  }

  // MARK: Paths

  /// Returns the value at the end of `steps`, or null if none exists.
  private func follow(
    _ steps: ArraySlice<ValuePath.Step>, from value: DynamicValue
  ) throws -> DynamicValue {
    guard let step = steps.first else { return value }
    let rest = steps.dropFirst()
    switch step {
    case .member(let name): return try member(name, of: value, rest)
    case .element(let index): return try element(index, of: value, rest)
    case .first: return try element(0, of: value, rest)
    case .last: return try follow(rest, from: try value.elements()?.last ?? .null)
    case .size: return try follow(rest, from: .integer(Int64(value.elements()?.count ?? 0)))
    case .aggregate(.count):
      return .integer(Int64(try value.elements()?.count ?? (value.isNull ? 0 : 1)))
    case .aggregate(let op):
      var values: [DynamicValue] = []
      for element in try value.elements() ?? [value] {
        values.append(try follow(rest, from: element))
      }
      return try Arithmetic.aggregate(op, values)
    }
  }

  private func member(
    _ name: String, of value: DynamicValue, _ rest: ArraySlice<ValuePath.Step>
  ) throws -> DynamicValue {
    switch value {
    case .list(let elements):
      let found = try elements.map { try member(name, of: $0, rest) }.filter { !$0.isNull }
      // A member that no element has is null, like a member that an object lacks.
      return found.isEmpty ? .null : .list(found)
    case .collection(let document):
      if try DocumentReader(document).kind() == .array {
        return try member(name, of: .list(try value.elements() ?? []), rest)
      }
      let found = try DocumentReader.member(named: name, in: document)
      return try follow(rest, from: try found.map { try DynamicValue(document: $0) } ?? .null)
    // A member of a scalar is null, on which later steps such as `@count` still apply.
    default: return try follow(rest, from: .null)
    }
  }

  private func element(
    _ index: Int, of value: DynamicValue, _ rest: ArraySlice<ValuePath.Step>
  ) throws -> DynamicValue {
    let elements = try value.elements() ?? []
    return try follow(rest, from: elements.indices.contains(index) ? elements[index] : .null)
  }

  // MARK: Functions

  private func call(
    _ function: OperandFunction, _ arguments: [DynamicValue]
  ) throws -> DynamicValue {
    if function == .now { return .date(now) }
    guard let argument = arguments.first else { return .null }
    switch function {
    case .uppercase, .lowercase, .canonical, .length, .abs, .floor, .ceiling, .trunc, .sqrt,
      .onesComplement:
      return Self.call(function, on: argument)
    case .count, .sum, .min, .max, .average:
      let values = try arguments.count == 1 ? argument.elements() ?? [argument] : arguments
      let op: CollectionOperator =
        switch function {
        case .count: .count
        case .sum: .sum
        case .min: .min
        case .max: .max
        default: .avg
        }
      return try Arithmetic.aggregate(op, values)
    case .now: return .date(now)
    // Parts of dates are bound as `BoundOperand.datePart`, so these functions are never called
    // here.
    case .year, .quarter, .month, .weekYear, .week, .dayOfYear, .day, .weekday, .hour, .minute,
      .second, .startOfYear, .startOfQuarter, .startOfMonth, .startOfWeek, .startOfDay,
      .startOfHour:
      return .null
    }
  }

  /// Returns the result of a function of one scalar.
  static func call(_ function: OperandFunction, on argument: DynamicValue) -> DynamicValue {
    switch function {
    case .uppercase:
      if let text = argument.ascii(function) { return .string(text) }
      return argument.string.map { .string($0.uppercased()) } ?? .null
    case .lowercase:
      if let text = argument.ascii(function) { return .string(text) }
      return argument.string.map { .string($0.lowercased()) } ?? .null
    case .canonical:
      var folded: [UInt8] = []
      let isText: Void? = argument.withText {
        TextFolding.folded($0, options: [.caseInsensitive, .diacriticInsensitive], to: &folded)
      }
      return isText == nil ? .null : .string(String(decoding: folded, as: UTF8.self))
    case .length:
      return argument.withText { text -> DynamicValue in
        let count = CharacterCount.ofASCII(text) ?? String(decoding: text, as: UTF8.self).count
        return .integer(Int64(count))
      } ?? .null
    case .abs, .floor, .ceiling, .trunc: return Arithmetic.rounded(function, argument)
    case .onesComplement: return Arithmetic.complement(argument)
    case .sqrt: return argument.number.map { .double($0.double.squareRoot()) } ?? .null
    default: return .null
    }
  }
}

extension OperandFunction {
  /// The ASCII letters whose case the function changes; `nil` for other functions.
  fileprivate var changedLetters: ClosedRange<UInt8>? {
    switch self {
    case .uppercase: 0x61...0x7a
    case .lowercase: 0x41...0x5a
    default: nil
    }
  }

  /// Whether the function takes one text.
  fileprivate var takesText: Bool {
    switch self {
    case .uppercase, .lowercase, .canonical, .length: true
    default: false
    }
  }
}

extension DynamicValue {
  /// Returns the text in the case that `function` produces, or `nil` if the value is not an ASCII
  /// text.
  fileprivate func ascii(_ function: OperandFunction) -> String? {
    withText { text -> String? in
      guard let range = function.changedLetters, text.allSatisfy({ $0 < 0x80 }) else { return nil }
      return String(unsafeUninitializedCapacity: text.count) { bytes in
        for index in text.indices {
          let byte = text[index]
          bytes[index] = range.contains(byte) ? byte ^ 0x20 : byte
        }
        return text.count
      }
    } ?? nil
  }
}
