import Foundation
import Testing

@testable import EntityStore

/// A tree of records of one kind.
private struct Node: Entity {
  var id = RecordID<Node>()
  var name: String
  var isOpen = true
  var level: Int
  var parent: Node.ID?

  static let children = ToMany<Node, Node>(inverse: \.parent, onDelete: .noAction)

  struct Attributes: Sendable {
    var name: Attribute<Node, String> { .init(0) }
    var isOpen: Attribute<Node, Bool> { .init(1) }
    var level: Attribute<Node, Int> { .init(2) }
    var parent: Attribute<Node, Node.ID?> { .init(3) }
    var children: ToMany<Node, Node> { Node.children }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Node>(
    "Node",
    attributes: [
      .init("name", \.name), .init("isOpen", \.isOpen), .init("level", \.level),
      .toOne("parent", \.parent),
    ], indexes: [[\.name]], relationships: [.init("children", children)])

  init(_ name: String, level: Int, parent: Node.ID?) {
    self.name = name
    self.level = level
    self.parent = parent
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    isOpen = try reader.read()
    level = try reader.read()
    parent = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(isOpen)
    writer.write(level)
    writer.write(parent)
  }
}

/// Batches whose condition or values depend on related records, which the same batch may change.
@Suite struct `Batches that look at related records` {
  @Test func `a batch treats a missing related record as absent, as a read does`() throws {
    try withTemporaryStore([Node.self]) { store in
      try store.write { tx throws in
        let ids = try chain(3, in: &tx)
        try tx.delete(ids[0])
        // The deleted record's child refers to a missing record until the write repairs the
        // reference.
        let named = try Node.where(format: "parent.name != NULL")
        #expect(try tx.fetch(named).map(\.name) == ["n3"])
        let unnamed = try Node.where(format: "parent.name == NULL")
        #expect(try tx.fetch(unnamed).map(\.name) == ["n2"])
        #expect(try tx.update(unnamed) { $0.parent = nil } == 1)
      }
    }
  }

  /// Inserts a chain of nodes, each with the previous node as parent and a level higher by ten.
  private func chain(_ count: Int, in transaction: inout WriteTransaction) throws -> [Node.ID] {
    var ids: [Node.ID] = []
    for number in 1...count {
      let node = Node("n\(number)", level: number * 10, parent: ids.last)
      ids.append(try transaction.insert(node).id)
    }
    return ids
  }

  @Test(
    arguments: [
      "NOT parent.isOpen == NO", "parent == NULL OR parent.isOpen == YES",
      "NONE children.isOpen == NO", "parent == NULL OR parent.level < level",
      "SUBQUERY(children, $c, $c.isOpen == YES).@count == children.@count",
    ])
  func `an update decides by the related values before its changes`(format: String) throws {
    try withTemporaryStore([Node.self]) { store in
      try store.write { tx throws in
        _ = try chain(50, in: &tx)
        let open = try Node.where(format: format)
        #expect(try tx.count(open) == 50)
        #expect(
          try tx.update(open) {
            $0.isOpen = false
            $0.level = 0
          } == 50)
        #expect(try tx.count(Node.where { $0.isOpen == true }) == 0)
      }
    }
  }

  @Test func `an update sets values from the related values before its changes`() throws {
    try withTemporaryStore([Node.self]) { store in
      try store.write { tx throws in
        _ = try chain(6, in: &tx)
        let held = Node.where { $0.parent != nil }
        #expect(try tx.update(held) { $0.set(\.level, format: "parent.level + 1") } == 5)
        #expect(
          try tx.fetch(Node.all.sorted(by: \.name)).map(\.level) == [10, 11, 21, 31, 41, 51])
      }
    }
  }

  /// After a delete with the rule "no action", the program must repair references before the write
  /// ends.
  @Test func `a batch finds no deleted record by the records that still refer to it`() throws {
    try withTemporaryStore([Node.self]) { store in
      try store.write { tx throws in
        let parents = try (0..<300).map { number in
          try tx.insert(Node("p\(number)", level: 0, parent: nil)).id
        }
        let child = try tx.insert(Node("x", level: 1, parent: parents[5])).id
        let query = Node.where { $0.children.any { $0.name == "x" } }
        #expect(try tx.fetch(query).map(\.id) == [parents[5]])
        try tx.delete(parents[5])
        #expect(try tx.count(query) == 0)
        #expect(try tx.ids(query) == [])
        #expect(try tx.fetch(query) == [])
        #expect(try tx.update(query) { $0.level = 7 } == 0)
        try tx.modify(child) { $0.parent = parents[6] }
        #expect(try tx.fetch(query).map(\.id) == [parents[6]])
      }
      try expectSound(store)
    }
  }
}

extension Node: Equatable {}
