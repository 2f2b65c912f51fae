/// The treatment of records whose values are no latitude and longitude.
public enum InvalidPlaces: Sendable, Hashable {
  /// A write of such a record throws ``StoreError/Code/invalidValue``.
  case refused
  /// The record is stored, and no condition on places finds it.
  case leftOut
}

/// An index on places, by a latitude and a longitude in degrees.
///
///     static let placeIndexes = [PlaceIndex<Fireball>(.init(\.latitude), .init(\.longitude))]
///
/// Records whose latitude or longitude is `nil` are not in the index. The index is kept in the same
/// transaction as the records, by each program that writes the file. See <doc:Places>.
public struct PlaceIndex<E: Entity>: Sendable {
  /// A number of degrees.
  public struct Source: Sendable {
    let attribute: any PartialKeyPath<E> & Sendable
    let path: [String]

    /// - Parameters:
    ///   - attribute: a number, or a nested struct or JSON that holds the number.
    ///   - path: the names of the members that lead to the number; in nested structs their coding
    ///     keys.
    public init<Value>(_ attribute: any KeyPath<E, Value> & Sendable, _ path: String...) {
      self.attribute = attribute
      self.path = path
    }
  }

  let sources: [Source]
  let invalid: InvalidPlaces

  /// Declares an index.
  ///
  /// - Parameters:
  ///   - latitude: the degrees north of the equator, from -90 to 90.
  ///   - longitude: the degrees east of Greenwich, from -180 to 180.
  ///   - invalid: the treatment of records with other values. Records from before the declaration
  ///     are left out in either case.
  public init(_ latitude: Source, _ longitude: Source, invalid: InvalidPlaces = .refused) {
    sources = [latitude, longitude]
    self.invalid = invalid
  }
}
