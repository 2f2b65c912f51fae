public import LodestoreEssentials
internal import LodestoreFormat

// Parts of dates, in UTC unless a time zone is given.

extension Attribute where Value == Date {
  /// A part of the date in UTC.
  ///
  ///     Order.where { $0.createdAt[.year] == 2024 }
  ///
  /// Conditions on years and on beginnings of units use an index over the date, in UTC and at a
  /// fixed offset.
  public subscript(part: DatePart) -> Attribute<E, Int?> { self[part, in: .utc] }

  /// A part of the date in a time zone.
  public subscript(part: DatePart, in zone: DateZone) -> Attribute<E, Int?> {
    deriving(dated(part.calendarPart, zone))
  }

  /// The moment at which the date's year, month or other unit began in UTC.
  ///
  ///     let byMonth = Order.all.sorted(by: \.createdAt[startOf: .month].descending)
  public subscript(startOf unit: DateUnit) -> Attribute<E, Date?> { self[startOf: unit, in: .utc] }

  /// The moment at which the date's year, month or other unit began in a time zone.
  ///
  /// If clocks skip that moment, as some zones skip midnight, the result is the moment at which
  /// they change.
  public subscript(startOf unit: DateUnit, in zone: DateZone) -> Attribute<E, Date?> {
    deriving(dated(unit.calendarPart, zone))
  }
}

extension Attribute where Value == Date? {
  /// A part of the date in UTC; null for null.
  @_documentation(visibility: internal)
  public subscript(part: DatePart) -> Attribute<E, Int?> { self[part, in: .utc] }

  /// A part of the date in a time zone; null for null.
  @_documentation(visibility: internal)
  public subscript(part: DatePart, in zone: DateZone) -> Attribute<E, Int?> {
    deriving(dated(part.calendarPart, zone))
  }

  /// The moment at which the date's year, month or other unit began in UTC; null for null.
  @_documentation(visibility: internal)
  public subscript(startOf unit: DateUnit) -> Attribute<E, Date?> { self[startOf: unit, in: .utc] }

  /// The moment at which the date's year, month or other unit began in a time zone; null for null.
  @_documentation(visibility: internal)
  public subscript(startOf unit: DateUnit, in zone: DateZone) -> Attribute<E, Date?> {
    deriving(dated(unit.calendarPart, zone))
  }
}

extension Attribute {
  fileprivate func dated(_ part: CalendarPart?, _ zone: DateZone) -> Operand {
    guard let function = part.map({ OperandFunction($0) }) else { return .value(.null) }
    return .call(
      function, zone == .utc ? [operand] : [operand, .value(.string(zone.name))])
  }
}

extension OperandFunction {
  /// The part of a date that the function computes; `nil` for other functions.
  var calendarPart: CalendarPart? { CalendarPart(rawValue: rawValue) }

  /// Creates the function that computes a part of a date.
  init(_ part: CalendarPart) {
    // The raw values of the two enumerations agree, which a test checks. The fallback is never
    // used.
    self = OperandFunction(rawValue: part.rawValue) ?? .year
  }
}
