import Fireballs
import Foundation
import Lodestore
import Testing

@Suite struct GroupsTests {
  @Test func `groups have the fireballs that fulfil their condition, and count them`() async throws
  {
    try await withFireballs(samples: true) { fireballs in
      let groups = try fireballs.store.fetch(FireballStore.largestGroupsFirst)
      let counts = Dictionary(uniqueKeysWithValues: groups.map { ($0.name, $0.fireballCount) })
      #expect(
        counts == ["strong": 3, "fast": 0, "deep": 2, "northern": 2, "southern": 1, "tropical": 1])
      let strong = try #require(groups.first { $0.name == "strong" })
      #expect(strong.impactEnergy == 522)
    }
  }

  @Test func `a fireball is in several groups, known from both sides`() async throws {
    try await withFireballs(samples: true) { fireballs in
      let names = try fireballs.store.read { snapshot in
        let strongest = try #require(try snapshot.first(Fireball.strongestFirst))
        return try snapshot.related(Fireball.groups, of: strongest.id).map(\.name)
      }
      #expect(Set(names) == ["strong", "deep", "northern"])
    }
  }

  @Test func `counts follow each change automatically`() async throws {
    try await withFireballs(samples: true) { fireballs in
      try await fireballs.makeGroup("weak", of: "impactEnergy < 40")
      let weakest = try await fireballs.store.first(Fireball.all.sorted(by: \.impactEnergy))
      try await fireballs.add(#require(weakest).id, toGroup: "seen")
      func count(_ name: String) async throws -> Int? {
        try await fireballs.store.fetch(FireballGroup.key(name: name))?.fireballCount
      }
      #expect(try await count("weak") == 1)
      #expect(try await count("seen") == 1)
      try await fireballs.store.delete(#require(weakest))
      #expect(try await count("weak") == 0)
      #expect(try await count("seen") == 0)
      #expect(try await count("strong") == 2)
    }
  }

  @Test func `groups follow a refresh`() async throws {
    try await withFireballs { fireballs in
      try await fireballs.refresh(file: Snapshots.old)
      try await fireballs.refresh(file: Snapshots.new)
      for group in try await fireballs.store.fetch(FireballStore.largestGroupsFirst) {
        let condition = try #require(group.condition)
        let expected = try await fireballs.store.count(Fireball.where(format: condition))
        #expect(group.fireballCount == expected, "\(group.name)")
      }
    }
  }

  @Test func `an invalid condition is refused and makes no group`() async throws {
    try await withFireballs(samples: true) { fireballs in
      let error = await #expect(throws: StoreError.self) {
        try await fireballs.makeGroup("odd", of: "energie > 3")
      }
      #expect(error?.code == .invalidQuery)
      let odd = try await fireballs.store.fetch(FireballGroup.key(name: "odd"))
      #expect(odd == nil)
    }
  }
}
