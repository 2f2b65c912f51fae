#if Macros
  import Foundation
  import Lodestore
  import Testing

  // The Swift of the article AttachedDatasets.

  @Entity struct Library {
    #Unique<Library>([\.name])
    #Index<Library>([\.license])
    var name: String
    var license: String
    var summary: String?
  }

  @Entity struct Favourite {
    #Unique<Favourite>([\.library])
    var library: Reference<Library>
    var note: String = ""
    var stars: Int = 0
  }

  @Suite struct `The article on attached datasets` {
    private func open(
      _ favouritesPath: String, _ librariesPath: String
    ) throws -> AttachedStore {
      let favourites = try Store(at: favouritesPath, entities: [Favourite.self])
      let libraries = try Store(at: librariesPath, entities: [Library.self])
      let attached = favourites.attach(libraries)

      try favourites.insert(
        Favourite(library: try Reference(Library.key(name: "AFNetworking")), note: "try this one"))
      return attached
    }

    private func read(_ attached: AttachedStore) throws {
      try attached.read { snapshot in
        for favourite in try snapshot.fetch(Favourite.all, resolving: \.library) {
          print(favourite.record.note, favourite.target?.summary ?? "no longer in the catalogue")
        }
        if let library = try snapshot.dataset.fetch(Library.key(name: "AFNetworking")) {
          let marked = try snapshot.count(Favourite.referring(to: library, by: \.library))
          print(library.name, marked > 0)
        }
      }
    }

    private func follow(
      _ attached: AttachedStore,
      _ show: ([ResolvedRecord<Favourite, Library>], ResultDifference?) -> Void
    ) async throws {
      for try await update in attached.updates(of: Favourite.all, resolving: \.library) {
        show(update.items, update.difference)
      }
    }

    private func followCount(
      _ attached: AttachedStore, _ free: AttachedQuery<Favourite>
    ) async throws {
      for try await count in attached.updates({ try $0.count(free) }) { print(count) }
    }

    @Test func `the program of the article on attached datasets runs as described`() async throws {
      let directory = FileManager.default.temporaryDirectory
        .appending(path: "attached-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: directory) }
      let attached = try open(
        directory.appending(path: "favourites.lodestore").path,
        directory.appending(path: "libraries.lodestore").path)
      let favourites = attached.store
      let libraries = try attached.dataset.currentStore
      try read(attached)
      for try await dangling in attached.danglingReferences() {
        print("\(dangling.entity) \(dangling.recordID): \(dangling.target) \(dangling.key) is gone")
      }
      var found: [DanglingReference] = []
      for try await dangling in attached.danglingReferences() { found.append(dangling) }
      #expect(found.map(\.key) == ["AFNetworking"])

      try await libraries.insert([
        Library(name: "AFNetworking", license: "MIT"), Library(name: "Other", license: "BSD"),
      ])
      try await favourites.update(Favourite.all) { $0.stars = 5 }
      let free = Favourite.where { $0.stars > 3 }.sorted(by: \.stars.descending).limit(20)
        .leading(by: \.library, to: Library.where { $0.license == "MIT" })
      let unmarked = Library.all.sorted(by: \.name).notReferred(by: \.library, of: Favourite.all)
      let gone = Favourite.all.notLeading(by: \.library, to: Library.all)

      try await attached.read { snapshot in
        print(try snapshot.fetch(free), try snapshot.count(unmarked), try snapshot.ids(gone))
        print(try snapshot.explain(free))
      }
      try await attached.read { snapshot in
        let (marked, others) = (try snapshot.fetch(free), try snapshot.fetch(unmarked))
        #expect(marked.map(\.note) == ["try this one"])
        #expect(others.map(\.name) == ["Other"])
        let count = try snapshot.count(gone)
        #expect(count == 0)
      }
      try read(attached)

      try await follow(attached) { items, _ in
        #expect(items.map(\.target?.name) == ["AFNetworking"])
        favourites.close()
      }
      await #expect(throws: StoreError.self) { try await followCount(attached, free) }
    }
  }
#endif
