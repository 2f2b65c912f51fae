internal import LodestoreFormat

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension Derivation where Value == Date {
  /// The time of the write that inserted the record; it stays when the record is replaced.
  public static var insertedAt: Derivation { Derivation(plain: .inserted) }

  /// The time of the last write that gave one of the record's own attributes another value.
  ///
  /// A change of what is derived from related records is none.
  public static var changedAt: Derivation { Derivation(plain: .changed) }
}
