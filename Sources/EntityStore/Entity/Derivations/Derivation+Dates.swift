public import LodestoreEssentials
internal import LodestoreFormat

extension Derivation where Value == Date {
  /// The time of the write that inserted the record; replacing the record does not change it.
  public static var insertedAt: Derivation { Derivation(plain: .inserted) }

  /// The time of the last write that gave one of the record's own attributes another value.
  ///
  /// A change of an attribute derived from related records does not count.
  public static var changedAt: Derivation { Derivation(plain: .changed) }
}

extension Derivation where Value == Int? {
  /// A part of a date of the record; null where the date has none.
  ///
  ///     @Derived(.part(.year, of: \Film.releasedAt)) private(set) var releaseYear: Int?
  ///
  /// - Parameter zone: UTC or a fixed offset. A named zone is refused with
  ///   ``StoreError/Code/badSchema``: its rules differ between machines and times.
  public static func part(
    _ part: DatePart, of source: any KeyPath<E, Date> & Sendable, in zone: DateZone = .utc
  ) -> Derivation {
    Derivation(deriving: part.calendarPart, of: source, in: zone)
  }

  /// A part of an optional date of the record; null when the date is null.
  @_documentation(visibility: internal)
  public static func part(
    _ part: DatePart, of source: any KeyPath<E, Date?> & Sendable, in zone: DateZone = .utc
  ) -> Derivation {
    Derivation(deriving: part.calendarPart, of: source, in: zone)
  }
}

extension Derivation where Value == Date? {
  /// The moment at which the year, month or other unit of a date of the record began.
  ///
  ///     @Derived(.start(of: .month, \Film.releasedAt)) private(set) var releaseMonth: Date?
  ///
  /// - Parameter zone: UTC or a fixed offset. A named zone is refused with
  ///   ``StoreError/Code/badSchema``: its rules differ between machines and times.
  public static func start(
    of unit: DateUnit, _ source: any KeyPath<E, Date> & Sendable, in zone: DateZone = .utc
  ) -> Derivation {
    Derivation(deriving: unit.calendarPart, of: source, in: zone)
  }

  /// The moment at which the year, month or other unit of an optional date began; null for a null
  /// date.
  @_documentation(visibility: internal)
  public static func start(
    of unit: DateUnit, _ source: any KeyPath<E, Date?> & Sendable, in zone: DateZone = .utc
  ) -> Derivation {
    Derivation(deriving: unit.calendarPart, of: source, in: zone)
  }
}
