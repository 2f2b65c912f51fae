import Foundation
import Testing

@testable import EntityStore

/// Live results over a store and its dataset, and many swaps.
@Suite struct `Updates over a dataset` {
  @Test func `commits on either side and swaps are reported, and nothing else`() async throws {
    try await withAttached(pods: 0..<10) { attached in
      let generations = try #require(attached.dataset as? Generations)
      let first = generations.currentStore
      let note = try await attached.store.insert(PodNote(pod: try Reference(pod(3)), text: "a"))
      let updates = Turner(attached.updates(of: PodNote.all, resolving: \.pod))
      let begin = try await within { try await updates.next() }
      #expect(begin?.items.map(\.target?.name) == ["pod3"] && begin?.difference == nil)

      let waiting = Task { try await updates.next() }
      // This update changes no row of the query.
      try await first.update(Pod.where { $0.name == "pod4" }) { $0.summary = "x" }
      try await attached.store.modify(note.id) { $0.text = "b" }
      let modified = try await waiting.value
      #expect(modified?.items.map(\.record.text) == ["b"])
      #expect(modified?.difference?.updated.count == 1)

      try await first.update(Pod.where { $0.name == "pod3" }) { $0.summary = "y" }
      let target = try await within { try await updates.next() }
      #expect(target?.items.map(\.target?.summary) == ["y"])
      #expect(target?.difference?.updated.count == 1)

      try await withTemporaryStore([Pod.self]) { next in
        try await next.insert((0..<3).map { pod($0) })
        generations.replace(with: next)
        let gone = try await within { try await updates.next() }
        #expect(gone?.items.map(\.isDangling) == [true])
        #expect(gone?.difference?.updated.count == 1)
        try await next.insert(pod(3))
        let back = try await within { try await updates.next() }
        #expect(back?.items.map(\.target?.name) == ["pod3"])
        // The replaced generation is not observed any more, so its deletes cause no update.
        let last = Task { try await updates.next() }
        try await first.delete(Pod.all)
        try await attached.store.insert(PodNote(pod: try Reference(pod(1))))
        #expect(try await last.value?.items.map(\.target?.name) == ["pod3", "pod1"])
        generations.replace(with: first)
        #expect(
          try await within { try await updates.next() }?.items.map(\.isDangling) == [true, true])
      }
    }
  }

  @Test func `values over both stores are reported once, and end with the store`() async throws {
    try await withAttached(pods: 0..<10) { attached in
      let query = PodNote.all.leading(by: \.pod, to: Pod.where { $0.stars == 3 })
      let counts = Turner(attached.updates { try $0.count(query) })
      #expect(try await within { try await counts.next() } == 0)
      let waiting = Task { try await counts.next() }
      try await attached.store.insert(PodNote(pod: try Reference(pod(4))))
      try await attached.store.insert(PodNote(pod: try Reference(pod(3))))
      #expect(try await waiting.value == 1)
      let dataset = try attached.dataset.currentStore
      try await dataset.update(Pod.all) { $0.stars = 3 }
      #expect(try await within { try await counts.next() } == 2)
      let last = Task { try await counts.next() }
      attached.store.close()
      #expect(try await last.value == nil)
    }
  }

  @Test func `a cancelled loop over updates ends`() async throws {
    try await withAttached(pods: 0..<3) { attached in
      let task = Task<Int, any Error> {
        var count = 0
        for try await _ in attached.updates(of: PodNote.all, resolving: \.pod) { count += 1 }
        return count
      }
      while attached.store.observations.isIdle { await Task.yield() }
      task.cancel()
      let updateCount = try await task.value
      #expect(updateCount <= 1)
      while !attached.store.observations.isIdle { await Task.yield() }
    }
  }

  @Test func `a hundred swaps under readers and updates leave no reference unreported`()
    async throws
  {
    let swaps = 100
    try await withTemporaryStore([PodNote.self]) { store in
      let folder = try TemporaryFolder()
      let path = folder.path
      // Each generation lacks every seventh pod, and which pods it lacks changes from generation to
      // generation.
      @Sendable func numbers(_ generation: Int) -> [Int] {
        (0..<60).filter { ($0 + generation) % 7 != 0 }
      }
      @Sendable func open(_ generation: Int) throws -> Store {
        let store = try Store(at: "\(path)/\(generation).lodestore", entities: [Pod.self])
        // The pods are inserted in random order, so that one pod has different ids in different
        // generations.
        try store.insert(
          numbers(generation).shuffled().map { number in
            var pod = pod(number)
            pod.summary = "\(generation)"
            return pod
          })
        return store
      }
      try await store.write { tx in
        for number in 0..<60 {
          try tx.insert(PodNote(pod: try Reference(pod(number)), stars: number))
        }
      }
      let generations = Generations(try open(0))
      let attached = store.attach(generations)
      let last = "\(swaps)"
      let readers = (0..<3).map { _ in
        Task {
          var reads = 0
          while !Task.isCancelled {
            do {
              try await attached.read { try Self.expectWhole($0) }
              reads += 1
            } catch is CancellationError {
              break
            }
          }
          return reads
        }
      }
      let follower = Task {
        var seen = 0
        for try await update in attached.updates(of: PodNote.all, resolving: \.pod) {
          seen += 1
          let told = Set(update.items.compactMap(\.target?.summary))
          #expect(told.count == 1)
          if told == [last] { break }
        }
        return seen
      }
      var pins: [(Int, PinnedAttachment)] = []
      for generation in 1...swaps {
        if generation % 10 == 0 { pins.append((generation - 1, try attached.pinned())) }
        generations.replace(with: try open(generation))
        var dangling: [String] = []
        for try await reference in attached.danglingReferences() { dangling.append(reference.key) }
        let missing = (0..<60).filter { ($0 + generation) % 7 == 0 }
        #expect(dangling == missing.map { "[\"pod\($0)\",\"1.0\"]" })
      }
      #expect(try await within { try await follower.value } > 1)
      for reader in readers { reader.cancel() }
      for reader in readers { #expect(try await reader.value > 0) }
      for (generation, pin) in pins {
        try pin.read { snapshot in
          try Self.expectWhole(snapshot)
          let summary = try snapshot.dataset.first(Pod.all)?.summary
          #expect(summary == "\(generation)")
        }
      }
      pins = []
      generations.currentStore.close()
      for generation in [0, 1, swaps / 2, swaps] {
        try expectSound("\(path)/\(generation).lodestore")
      }
    }
  }

  /// Expects all targets to be of one generation, and only references to pods that this generation
  /// lacks to dangle.
  private static func expectWhole(_ snapshot: borrowing AttachedSnapshot) throws {
    let notes = try snapshot.fetch(PodNote.all, resolving: \.pod)
    let generation = try #require(notes.compactMap(\.target?.summary).first.flatMap { Int($0) })
    for note in notes {
      #expect(note.isDangling == ((note.record.stars + generation) % 7 == 0))
      if let target = note.target { #expect(target.summary == "\(generation)") }
    }
  }
}
