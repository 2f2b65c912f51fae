import Foundation
import Testing

@testable import EntityStore

/// Reads of a store and of its attached dataset.
@Suite struct `Attached stores` {
  @Test func `single and many references resolve, and are found from both sides`() throws {
    try withAttached(pods: 0..<100) { attached in
      let pods = try attached.read { try $0.dataset.fetch(Pod.all) }
      let twelve = try #require(pods.first { $0.name == "pod12" })
      try attached.store.write { tx in
        for pod in pods.prefix(20) { try tx.insert(PodNote(pod: try Reference(pod))) }
        try tx.insert(
          PodNote(pod: try Reference(twelve), instead: try Reference(pods[3]), stars: 2))
      }
      try attached.read { snapshot in
        #expect(try snapshot.resolve(try Reference(twelve)) == twelve)
        #expect(try snapshot.resolve(Reference<Pod>?.none) == nil)
        let references = try pods.reversed().map { Optional(try Reference($0)) } + [nil]
        #expect(try snapshot.resolve(references) == pods.reversed().map(Optional.some) + [nil])
        let notes = try snapshot.fetch(PodNote.all, resolving: \.pod)
        #expect(notes.count == 21)
        #expect(notes.allSatisfy { $0.target?.name == $0.record.pod.values.map(Self.name) })
        #expect(notes.allSatisfy { !$0.isDangling })
        let instead = try snapshot.fetch(PodNote.all, resolving: \.instead)
        #expect(instead.compactMap(\.target) == [pods[3]])
        #expect(instead.filter(\.isDangling).isEmpty)
        let back = try snapshot.fetch(PodNote.referring(to: twelve, by: \.pod))
        #expect(back.map(\.stars).sorted() == [0, 2])
        #expect(try snapshot.fetch(PodNote.referring(to: pods[3], by: \.instead)).count == 1)
        let plan = try snapshot.explain(PodNote.referring(to: twelve, by: \.pod))
        #expect(plan.index == "PodNote.pod")
      }
    }
  }

  private static func name(_ values: [some Any]) -> String {
    "\(values[0])".split(separator: "\"").dropFirst().first.map(String.init) ?? ""
  }

  @Test func `a missing target is reported with its reason, and comes back`() async throws {
    try await withAttached(pods: 0..<10) { attached in
      let gone = try Reference(Pod.byName.key("pod3", "1.0"))
      try await attached.store.insert(PodNote(pod: gone, instead: gone, text: "mine"))
      try await attached.store.insert(PodNote(pod: try Reference(Pod.byName.key("pod4", "1.0"))))
      let generations = try #require(attached.dataset as? Generations)
      try withTemporaryStore([Pod.self]) { next in
        try next.insert((0..<10).filter { $0 != 3 }.map { pod($0) })
        generations.replace(with: next)
        try attached.read { snapshot in
          #expect(try snapshot.resolve(gone) == nil)
          #expect(try snapshot.danglingReason(of: gone) == .gone)
          let notes = try snapshot.fetch(PodNote.all, resolving: \.pod)
          #expect(notes.map(\.isDangling) == [true, false])
          #expect(notes.map(\.record.text) == ["mine", ""])
          let other = Reference<Pod>("[\"pod3\"]"._storedValue)
          #expect(try snapshot.resolve(other) == nil)
          #expect(try snapshot.danglingReason(of: other) == .otherKey)
        }
      }
      // The attached store reads the new generation, and not the closed one before it.
      try await withTemporaryStore([Pod.self]) { next in
        try await next.insert((0..<10).map { pod($0) })
        generations.replace(with: next)
        #expect(try await attached.read { try $0.resolve(gone) }?.name == "pod3")
        var dangling: [DanglingReference] = []
        for try await reference in attached.danglingReferences() { dangling.append(reference) }
        #expect(dangling == [])
      }
    }
  }

  @Test func `the report of dangling references covers all attributes with references`()
    async throws
  {
    try await withAttached(pods: 0..<4_000) { attached in
      try await attached.store.write { tx in
        for number in 0..<5_000 {
          let reference = try Reference(pod(number))
          let note = PodNote(pod: reference, instead: number % 2_499 == 0 ? reference : nil)
          try tx.insert(note)
        }
        try tx.insert(PodNote(pod: Reference("no key"._storedValue)))
      }
      var found: [DanglingReference] = []
      for try await reference in attached.danglingReferences() { found.append(reference) }
      #expect(found.filter { $0.attribute == "pod" }.count == 1_001)
      #expect(found.filter { $0.attribute == "instead" }.map(\.recordID) == [4_999])
      #expect(found.first?.key == #"["pod4000","1.0"]"# && found.first?.reason == .gone)
      #expect(found.filter { $0.reason == .otherKey }.map(\.recordID) == [5_001])
      #expect(Set(found.map(\.entity)) == ["PodNote"] && Set(found.map(\.target)) == ["Pod"])
    }
  }

  @Test func `a read keeps its commit and its generation`() throws {
    try withAttached(pods: 0..<10) { attached in
      let generations = try #require(attached.dataset as? Generations)
      let reference = try Reference(pod(5))
      try attached.store.insert(PodNote(pod: reference))
      let pinned = try attached.pinned()
      try withTemporaryStore([Pod.self]) { next in
        try attached.read { snapshot in
          generations.replace(with: next)
          try attached.store.insert(PodNote(pod: reference, text: "later"))
          #expect(try snapshot.resolve(reference) == pod(5, id: 6))
          #expect(try snapshot.count(PodNote.all) == 1)
          try attached.read { inner in
            let (target, count) = (try inner.resolve(reference), try inner.count(PodNote.all))
            #expect(target == nil && count == 2)
          }
        }
        try pinned.read { snapshot in
          let notes = try snapshot.fetch(PodNote.all, resolving: \.pod)
          #expect(notes.map(\.target?.name) == ["pod5"])
        }
      }
    }
  }

  @Test func `a dataset that lacks the entity, or is closed, is an error`() throws {
    try withTemporaryStore([PodNote.self]) { store in
      let reference = try Reference(pod(1))
      try store.insert(PodNote(pod: reference))
      let other = try Store.inMemory(entities: [Keyed<Int>.self])
      let attached = store.attach(other)
      _ = try storeError(.unknownEntity) { try attached.read { try $0.resolve(reference) } }
      other.close()
      _ = try storeError(.closed) { try attached.read { _ in } }
      _ = try storeError(.closed) { try attached.pinned() }
    }
  }
}

/// A pod whose name contains `number`.
func pod(_ number: Int, id: UInt64 = 0) -> Pod {
  Pod(
    id: RecordID(rawValue: id), name: "pod\(number)", version: "1.0", stars: number % 7)
}

/// Runs `body` on a store of notes attached to a dataset, whose first generation has the pods with
/// these numbers.
func withAttached(pods: Range<Int>, _ body: (AttachedStore) throws -> Void) throws {
  try withTemporaryStore([Pod.self]) { dataset in
    try dataset.insert(pods.map { pod($0) })
    try withTemporaryStore([PodNote.self]) { store in
      try body(store.attach(Generations(dataset)))
    }
  }
}

/// Runs an asynchronous `body` on a store of notes attached to a dataset with these pods.
func withAttached(pods: Range<Int>, _ body: (AttachedStore) async throws -> Void) async throws {
  try await withTemporaryStore([Pod.self]) { dataset in
    try await dataset.insert(pods.map { pod($0) })
    try await withTemporaryStore([PodNote.self]) { store in
      try await body(store.attach(Generations(dataset)))
    }
  }
}
