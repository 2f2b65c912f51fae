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
public protocol Entity: Sendable, Identifiable where ID == RecordID<Self> {
  /// The name, attributes and indexes under which the entity is stored.
  static var schema: EntitySchema<Self> { get }

  /// The identity in the store; unassigned before the value is inserted.
  var id: RecordID<Self> { get set }

  /// Makes a value from a record, reading every attribute of ``schema`` in order.
  ///
  /// The store sets ``id`` afterwards.
  init(from reader: inout RecordReader) throws(StoreError)

  /// Writes every attribute of ``schema`` in order.
  func encode(into writer: inout RecordWriter)
}
