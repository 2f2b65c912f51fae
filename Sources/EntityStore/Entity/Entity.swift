/// A Swift struct whose values a store can hold.
///
/// `@Entity` generates the conformance. A handwritten conformance is a list of attributes, and two
/// functions that process these attributes in the declared order:
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
/// A struct that declares an initializer loses its memberwise initializer. To keep it, declare
/// `init(from:)` in an extension.
///
/// Conditions, orders, projections, updates and views name attributes through ``attributes``, which
/// `@Entity` generates too. Without it, use `#Predicate` or format strings. ``Attribute`` describes
/// how to write it by hand.
public protocol Entity: Sendable, Identifiable where ID == RecordID<Self> {
  /// A struct with an ``Attribute`` for the id and for each attribute, under the name of its
  /// property.
  ///
  /// The default is ``NoAttributes``. The members are computed properties, so that using one
  /// attribute costs nothing for the others.
  associatedtype Attributes: Sendable = NoAttributes

  /// The name, attributes and indexes under which the entity is stored.
  static var schema: EntitySchema<Self> { get }

  /// The attributes, by which conditions, orders and updates name them; `@Entity` generates them.
  static var attributes: Attributes { get }

  /// The identity in the store; unassigned before the value is inserted.
  var id: RecordID<Self> { get set }

  /// Creates a value from a record, reading every attribute of ``schema`` in order.
  ///
  /// The store sets ``id`` afterwards.
  init(from reader: inout RecordReader) throws(StoreError)

  /// Creates a value from a record, including its ``id``, in the fastest way.
  ///
  /// The default implementation calls ``init(from:)``. `@Entity` generates one call of the
  /// memberwise initializer when the struct has one. An initializer that sets properties one by one
  /// is slower: it copies the whole value at its end and retains each string.
  static func read(from reader: inout RecordReader) throws(StoreError) -> Self

  /// Writes every attribute of ``schema`` in order.
  func encode(into writer: inout RecordWriter)
}

extension Entity {
  /// Calls ``init(from:)`` and sets ``id``.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public static func read(from reader: inout RecordReader) throws(StoreError) -> Self {
    var value = try Self(from: &reader)
    value.id = reader.id()
    return value
  }
}
