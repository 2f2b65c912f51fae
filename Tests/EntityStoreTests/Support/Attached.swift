import EntityStore
import Foundation
import Synchronization

/// A note that a user writes about a pod, kept in another store than the pods.
struct PodNote: Hashable {
  var id = RecordID<PodNote>()
  var pod: Reference<Pod>
  /// Another pod that the note may name.
  var instead: Reference<Pod>?
  var text = ""
  var stars = 0
}

extension PodNote: Entity {
  struct Attributes: Sendable {
    var id: Attribute<PodNote, RecordID<PodNote>> { .recordID }
    var pod: Attribute<PodNote, Reference<Pod>> { .init(0) }
    var instead: Attribute<PodNote, Reference<Pod>?> { .init(1) }
    var text: Attribute<PodNote, String> { .init(2) }
    var stars: Attribute<PodNote, Int> { .init(3) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<PodNote>(
    "PodNote",
    attributes: [
      .init("pod", \.pod), .init("instead", \.instead), .init("text", \.text),
      .init("stars", \.stars),
    ],
    indexes: [[\.pod], [\.stars]])

  func encode(into writer: inout RecordWriter) {
    writer.write(pod)
    writer.write(instead)
    writer.write(text)
    writer.write(stars)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    pod = try reader.read()
    instead = try reader.read()
    text = try reader.read()
    stars = try reader.read()
  }
}

/// A record with a unique key of one attribute.
struct Keyed<K: IndexableValue & Hashable>: Entity, Hashable {
  var id = RecordID<Keyed>()
  var key: K
  var text = ""

  struct Attributes: Sendable {
    var key: Attribute<Keyed, K> { .init(0) }
    var text: Attribute<Keyed, String> { .init(1) }
  }

  static var attributes: Attributes { Attributes() }

  static var schema: EntitySchema<Keyed> {
    EntitySchema(
      "Keyed", attributes: [.init("key", \.key), .init("text", \.text)], unique: [[\.key]])
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(key)
    writer.write(text)
  }
}

extension Keyed {
  init(from reader: inout RecordReader) throws(StoreError) {
    key = try reader.read()
    text = try reader.read()
  }
}

/// A record with a unique key of two attributes.
struct Paired<K: IndexableValue & Hashable>: Entity, Hashable {
  var id = RecordID<Paired>()
  var key: K
  var part: Int

  struct Attributes: Sendable {
    var key: Attribute<Paired, K> { .init(0) }
    var part: Attribute<Paired, Int> { .init(1) }
  }

  static var attributes: Attributes { Attributes() }

  static var schema: EntitySchema<Paired> {
    EntitySchema(
      "Paired", attributes: [.init("key", \.key), .init("part", \.part)],
      unique: [[\.key, \.part]])
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(key)
    writer.write(part)
  }
}

extension Paired {
  init(from reader: inout RecordReader) throws(StoreError) {
    key = try reader.read()
    part = try reader.read()
  }
}

/// A record with a reference to a record of another store's entity `T`.
struct Pointing<T: Entity>: Entity {
  var id = RecordID<Pointing>()
  var target: Reference<T>
  var other: Reference<T>?

  struct Attributes: Sendable {
    var target: Attribute<Pointing, Reference<T>> { .init(0) }
    var other: Attribute<Pointing, Reference<T>?> { .init(1) }
  }

  static var attributes: Attributes { Attributes() }

  static var schema: EntitySchema<Pointing> {
    EntitySchema(
      "Pointing", attributes: [.init("target", \.target), .init("other", \.other)],
      unique: [[\.target]])
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(target)
    writer.write(other)
  }
}

extension Pointing {
  init(from reader: inout RecordReader) throws(StoreError) {
    target = try reader.read()
    other = try reader.read()
  }
}

/// A dataset whose generations are ordinary stores, each replacing the previous one.
final class Generations: AttachableDataset, Sendable {
  private struct State {
    var current: Store
    var listeners: [Int: AsyncStream<Int>.Continuation] = [:]
    var count = 0
  }

  private let state: Mutex<State>

  init(_ first: Store) { state = Mutex(State(current: first)) }

  var currentStore: Store { state.withLock { $0.current } }

  /// Makes `next` the store of all later reads.
  func replace(with next: Store) {
    state.withLock { state in
      state.current = next
      state.count += 1
      for listener in state.listeners.values { listener.yield(state.count) }
    }
  }

  var replacements: AsyncStream<Int> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      state.withLock { state in
        state.listeners[state.listeners.count] = continuation
        continuation.yield(state.count)
      }
    }
  }
}
