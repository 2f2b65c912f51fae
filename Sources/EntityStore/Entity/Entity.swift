/// A Swift struct whose values are kept in a store.
///
/// `@Entity` writes the conformance. By hand it is a list of attributes, and two functions that go
/// through the same attributes in the same order:
///
///     struct Film: Entity {
///       var id = RecordID<Film>()
///       var title: String
///       var episode: Int
///       var released: Date?
///
///       static let schema = EntitySchema<Film>(
///         "Film",
///         attributes: [
///           .init("title", \.title), .init("episode", \.episode), .init("released", \.released),
///         ],
///         unique: [[\.episode]], indexes: [[\.released]])
///
///       func encode(into writer: inout RecordWriter) {
///         writer.write(title)
///         writer.write(episode)
///         writer.write(released)
///       }
///
///       init(from reader: inout RecordReader) throws(StoreError) {
///         title = try reader.read()
///         episode = try reader.read()
///         released = try reader.read()
///       }
///     }
///
/// The memberwise initializer goes away with an initializer in the struct itself; declare
/// `init(from:)` in an extension to keep it.
///
/// Conditions, orders, projections, updates and views name attributes by a struct of them, which `@Entity`
/// writes too; without it there are `#Predicate` and format strings. By hand, see ``Attribute``.
public protocol Entity: Sendable, Identifiable where ID == RecordID<Self> {
  /// A struct with an ``Attribute`` for each attribute, under the name of its property, and one for the
  /// id; none for an entity without.
  ///
  /// Computed properties, so that naming one attribute costs nothing for the others.
  associatedtype Attributes: Sendable = NoAttributes

  /// The name, attributes and indexes under which the entity is stored.
  static var schema: EntitySchema<Self> { get }

  /// The attributes; `@Entity` writes them.
  static var attributes: Attributes { get }

  /// The identity in the store; unassigned before the value is inserted.
  var id: RecordID<Self> { get set }

  /// Makes a value from a record, reading every attribute of ``schema`` in order.
  ///
  /// The store sets ``id`` afterwards.
  init(from reader: inout RecordReader) throws(StoreError)

  /// Makes a value from a record, ``id`` included, in the way that is fastest.
  ///
  /// Where it is not declared it calls ``init(from:)``. `@Entity` writes it as one call of the
  /// memberwise initializer, where the struct has one. An initializer that sets properties one by one
  /// costs a copy of the whole value at its end, in which the references to strings are counted.
  static func read(from reader: inout RecordReader) throws(StoreError) -> Self

  /// Writes every attribute of ``schema`` in order.
  func encode(into writer: inout RecordWriter)
}

extension Entity {
  /// Calls ``init(from:)`` and sets ``id``.
  @inlinable @inline(__always)
  @_documentation(visibility: internal)
  public static func read(from reader: inout RecordReader) throws(StoreError) -> Self {
    var value = try Self(from: &reader)
    value.id = reader.id()
    return value
  }
}
