internal import LodestoreFormat

// Parts of dates. Comparing a year, or the beginning of a unit, with a constant is a range of
// dates, which an index over the date serves.
extension ConditionBinding {
  /// Returns the bound operand for a part of a date.
  mutating func datePart(
    _ part: CalendarPart, _ arguments: [Operand]
  ) throws(StoreError) -> BoundOperand {
    guard let first = arguments.first else { return .value(.null) }
    let rules = try zone(arguments)
    if let attribute = try derivedAttribute(part, of: first, rules) {
      return .attribute(attribute, [])
    }
    let operand = try operand(first)
    let kind = OperandTypes.kind(operand)
    guard [.date, .any, .null].contains(kind) else {
      throw .badQuery(
        "'\(ConditionPrinter.text(.call(OperandFunction(part), arguments)))' is a part of "
          + "\(kind.words); give a date, or convert with CAST")
    }
    return .datePart(part, operand, rules)
  }

  /// Returns the derived attribute that holds this part of `operand`, or `nil` if no attribute
  /// holds it.
  private func derivedAttribute(
    _ part: CalendarPart, of operand: Operand, _ rules: ZoneRules
  ) throws(StoreError) -> BoundAttribute? {
    guard let offset = rules.fixedOffset, case .path(let path) = operand, path.root == .record,
      path.steps.count == 1, relationship(path) == nil
    else { return nil }
    let source = try attribute(of: path).number
    let wanted = DerivedDatePart(part, offset: offset)
    return entity.description.declaredAttributes.first {
      $0.derivation?.part == wanted && $0.derivation?.source == source
    }.map { BoundAttribute($0) }
  }

  /// Returns `comparison` with parts of dates replaced by the derived attributes that hold them, so
  /// that indexes over these serve the comparison.
  func withDerivedParts(_ comparison: Comparison) throws(StoreError) -> Comparison {
    var comparison = comparison
    comparison.left = try withDerivedPart(comparison.left)
    comparison.right = try withDerivedPart(comparison.right)
    return comparison
  }

  func withDerivedPart(_ operand: Operand) throws(StoreError) -> Operand {
    guard case .call(let function, let arguments) = operand, let part = function.calendarPart,
      let first = arguments.first,
      let attribute = try derivedAttribute(part, of: first, try zone(arguments))
    else { return operand }
    return .path(ValuePath(attribute: attribute.name))
  }

  /// Returns the rules of the time zone named by the second argument.
  private func zone(_ arguments: [Operand]) throws(StoreError) -> ZoneRules {
    guard arguments.count > 1 else { return .utc }
    guard case .value(.string(let name)) = arguments[1] else {
      throw .badQuery(
        "the time zone of a part of a date is '\(ConditionPrinter.text(arguments[1]))'; give a text "
          + "such as \"+02:00\" or \"Europe/Berlin\"")
    }
    guard let rules = ZoneRules(name) else {
      throw .badQuery(
        "this machine has no time zone '\(name)'; give UTC, an offset such as \"+02:00\", or a name of "
          + "its database of time zones, such as \"Europe/Berlin\"")
    }
    guard !isOfRule || rules.fixedOffset != nil else {
      throw .badQuery(
        "the time zone '\(name)' has rules that differ between machines and times; give UTC or an offset "
          + "such as \"+02:00\"")
    }
    return rules
  }

  /// Returns an equivalent comparison of the date itself, or `nil` if none exists.
  func dateRange(_ comparison: Comparison) throws(StoreError) -> ConditionTree? {
    let comparison = comparison.withConstantOnTheRight
    guard comparison.quantifier == nil, comparison.options.isEmpty,
      case .call(let function, let arguments) = comparison.left,
      let part = function.calendarPart, let spans = part.spans,
      case .path(let path)? = arguments.first, path.root == .record, path.steps.count == 1,
      relationship(path) == nil, try attribute(of: path).type == .date,
      let offset = try zone(arguments).fixedOffset
    else { return nil }
    var low: Double?
    var high: Double?
    switch (comparison.operator, comparison.right) {
    case (.between, .values(let bounds)) where bounds.count == 2:
      guard let first = spans.range(bounds[0], offset), let second = spans.range(bounds[1], offset)
      else { return nil }
      (low, high) = (first.lowerBound, second.upperBound)
    case (let op, .value(let constant)):
      guard let range = spans.range(constant, offset) else { return nil }
      switch op {
      case .equal: (low, high) = (range.lowerBound, range.upperBound)
      case .less: high = range.lowerBound
      case .lessOrEqual: high = range.upperBound
      case .greater: low = range.upperBound
      case .greaterOrEqual: low = range.lowerBound
      default: return nil
      }
    default: return nil
    }
    func test(_ op: Comparison.Operator, _ seconds: Double) -> ConditionTree {
      .comparison(Comparison(.path(path), op, .value(.date(seconds))))
    }
    // Dates beyond ±2^53 seconds have no parts, so a comparison without a bound on one side ends
    // there.
    return .all([
      low.map { test(.greaterOrEqual, $0) } ?? test(.greater, -0x1p53),
      test(.less, high ?? 0x1p53),
    ])
  }
}

/// A part that grows with the date, so that each of its values stands for one span of dates.
private enum DateSpans {
  case years
  /// The units of a part that is itself a date, the beginning of the unit.
  case units(CalendarPart)

  /// Returns the dates for which the part equals `constant`.
  ///
  /// If no date has such a part, the range is empty, at the first date whose part is greater.
  /// Returns `nil` for a constant of another kind, and for a constant beyond the calendar.
  func range(_ constant: Value, _ offset: Int64) -> Range<Double>? {
    let (low, high): (Int64, Int64)
    switch (self, constant) {
    case (.years, .integer(let year)):
      guard year.magnitude < 100_000_000 else { return nil }
      low = CalendarDay.days(year, 1, 1) * 86_400
      high = CalendarDay.days(year + 1, 1, 1) * 86_400
    case (.units(let part), .date(let date)):
      guard date.magnitude < 1e15, let seconds = CalendarPart.wholeSeconds(date) else { return nil }
      let start = part.part(ofLocal: seconds + offset)
      high = Self.next(part, after: start)
      low = Double(start - offset) == date ? start : high
    case (.units, .string(let text)):
      guard let date = Value(text: text, as: .date) else { return nil }
      return range(date, offset)
    default: return nil
    }
    return Double(low - offset)..<Double(high - offset)
  }

  /// Returns the beginning of the unit after the one that begins at `start`.
  private static func next(_ part: CalendarPart, after start: Int64) -> Int64 {
    let longest: Int64 =
      switch part {
      case .startOfHour: 3_600
      case .startOfDay: 86_400
      case .startOfWeek: 7 * 86_400
      case .startOfMonth: 31 * 86_400
      case .startOfQuarter: 92 * 86_400
      default: 366 * 86_400
      }
    // Adding the longest length of a unit cannot skip a whole unit, even a shortest one.
    return part.part(ofLocal: start + longest)
  }
}

extension CalendarPart {
  /// The part's spans of dates; `nil` for a part whose values repeat.
  fileprivate var spans: DateSpans? { self == .year ? .years : isDate ? .units(self) : nil }
}
