#if Macros
  import Foundation
  import Lodestore
  import Testing

  // The Swift of the article SealedFiles.

  @Suite struct `The article on sealed files` {
    @Entity struct Film {
      #Unique<Film>([\.title])
      var title: String
    }

    private func make(_ store: Store, _ path: String) throws {
      let seal = try store.seal(
        to: path, name: "films", generation: 7, dataAsOf: Date(timeIntervalSinceNow: -60))
      print(seal.recordCounts, seal.contentDigest)
    }

    private func open(_ path: String) throws -> Store {
      let store = try Store(at: path, entities: [Film.self])
      if let seal = store.seal { print(seal.name, seal.generation, seal.dataAsOf) }
      return store
    }

    private func look(_ path: String) throws {
      let bundled = try Seal(ofFileAt: path)
      print(bundled.generation)
    }

    @Test func `a sealed file is made and read as the article says`() throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let store = try Store(
        at: folder.appending(path: "films.lodestore").path, entities: [Film.self])
      try store.write { try $0.insert(Film(title: "Alien")) }
      let path = folder.appending(path: "films-7.lodestore").path
      try make(store, path)
      store.close()
      try look(path)
      let sealed = try open(path)
      #expect(try sealed.fetch(Film.all).map(\.title) == ["Alien"])
      sealed.close()
    }
  }
#endif
