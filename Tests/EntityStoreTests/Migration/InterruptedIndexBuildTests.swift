import Foundation
import Testing

@testable import EntityStore
@testable import KVDumpCommands

/// Stores whose computed indexes are partly built.
@Suite struct `A build of computed indexes in the middle` {
  private static let count = 2_500

  private static func options() -> StoreOptions {
    var options = StoreOptions()
    options.buildsIndexesInUse = true
    options.mostVectorsWithoutLists = 1_000
    return options
  }

  /// Creates a store that has a part of the index before the `left` last ones, and complete indexes
  /// before it.
  private func folder(left: Int, salt: UInt64 = 21) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    let before = try Store(at: folder.storePath, entities: [Marker.Plain.self])
    var numbers = SeededNumbers(salt: salt)
    try before.insert((0..<Self.count).map { _ in Marker.Plain(Marker.Values(&numbers)) })
    before.close()
    let begun = try Store(
      at: folder.storePath, entities: [Marker.Indexed.self], options: Self.options())
    begun.close()
    var options = StoreOptions()
    options.mostVectorsWithoutLists = 1_000
    let store = try Store(at: folder.storePath, entities: [], options: options)
    func builds() throws -> [IndexBuild] { try store.indexBuilds() }
    while try builds().count > left + 1 || builds().first?.progress.completed == 0 {
      _ = try store.buildNextPart()
    }
    #expect(try builds().count == left + 1)
    store.close()
    return folder
  }

  /// Opens the store, waits until the indexes are complete, and compares them with the records.
  private func expectCompletes(_ path: String) async throws {
    try expectSound(path)
    let store = try Store(at: path, entities: [Marker.Indexed.self], options: Self.options())
    try await store.waitForIndexes()
    try expectFound(store)
    #expect(try store.indexBuilds().isEmpty)
    store.close()
    try expectSound(path)
  }

  private func expectFound(_ store: Store) throws {
    try store.read { snapshot in
      let all = try snapshot.fetch(Marker.Indexed.all)
      let found = try snapshot.ids(Marker.Indexed.where(format: "'t7' IN tags"))
      #expect(found == all.filter { $0.values.tags.contains("t7") }.map(\.id))
      let searched = try snapshot.ids(Marker.Indexed.where(format: "SELF SEARCH 'amber'"))
      #expect(
        searched == all.filter { $0.values.title.split(separator: " ").contains("amber") }.map(\.id)
      )
      let near = Vector([0.5, -1, 2])
      let nearest = try snapshot.fetch(
        Marker.Indexed.where { $0.hue.isNear(near, by: .euclidean) }.sortedByDistance())
      #expect(nearest.count == all.count)
    }
  }

  private func kvdump(_ arguments: [String]) async throws -> String {
    let (data, messages) = (MemorySink(), MemorySink())
    let status = await KVDump.execute(arguments, on: Console(output: data, errors: messages))
    #expect(status == .success, "\(arguments) \(messages.text)")
    return data.text
  }

  @Test(arguments: 0...3)
  func `begins again in a salvaged file`(left: Int) async throws {
    let folder = try folder(left: left)
    let out = folder.path + "/out.lodestore"
    _ = try await kvdump(["salvage", folder.storePath, out])
    try await expectCompletes(out)
  }

  @Test(arguments: [0, 2])
  func `is continued in copies of the file`(left: Int) async throws {
    let folder = try folder(left: left)
    let copies = ["compact", "unsealed", "exact"].map { folder.path + "/\($0).lodestore" }
    _ = try await kvdump(["compact", folder.storePath, copies[0]])
    let store = try Store(at: folder.storePath, entities: [])
    try store.copyUnsealed(to: copies[1])
    try store.copyUnsealed(to: copies[2], isExact: true)
    store.close()
    for copy in copies { try await expectCompletes(copy) }
  }

  @Test(arguments: [0, 2])
  func `leaves a sealed file whose queries are right`(left: Int) async throws {
    let folder = try folder(left: left)
    let path = folder.path + "/sealed.lodestore"
    let store = try Store(at: folder.storePath, entities: [])
    try await store.seal(to: path, name: "markers", generation: 1, dataAsOf: Date())
    store.close()
    try expectSound(path)
    let sealed = try Store(at: path, entities: [Marker.Indexed.self], options: Self.options())
    try await sealed.waitForIndexes()
    try expectFound(sealed)
    let copy = folder.path + "/copy.lodestore"
    try sealed.copyUnsealed(to: copy)
    sealed.close()
    try await expectCompletes(copy)
  }

  @Test func `does not concern commands and queries of kvdump`() async throws {
    let folder = try folder(left: 0)
    let path = folder.storePath
    for command in [
      ["schema", path], ["stat", path], ["info", path], ["keys", path],
      ["query", path, "Marker", "'t7' IN tags"],
      ["query", path, "Marker", "SELF SEARCH 'amber'", "--limit", "3"],
      ["query", path, "Marker", "--near", "1,1", "--limit", "3"],
      ["explain", path, "Marker", "SELF SEARCH 'amber'"],
    ] {
      #expect(try await !kvdump(command).isEmpty, "\(command)")
    }
    try expectSound(path)
  }

  @Test func `leaves places and vectors of records to GeoJSON and to queries`() async throws {
    let folder = try folder(left: 3)
    let path = folder.storePath
    let json = try await kvdump(["query", path, "Marker", "--format", "geojson", "--limit", "9"])
    #expect(json.ranges(of: #""type":"Point","coordinates":["#).count == 9)
    let exported = try await kvdump(["export", path, "Marker", "--format", "geojson"])
    #expect(exported.ranges(of: #""type":"Point","coordinates":["#).count == Self.count)
    let near = try await kvdump(
      ["query", path, "Marker", "--near", "1,1", "--limit", "3", "--format", "jsonl"])
    #expect(near.ranges(of: "_distance").count == 3)
    let similar = try await kvdump(
      ["query", path, "Marker", "--similar", "1", "--limit", "3", "--format", "jsonl"])
    #expect(similar.ranges(of: "_distance").count == 3)
    try expectSound(path)
  }

  /// A marker with an index of each way in which a file describes indexes.
  private struct Placed: Entity {
    var id = RecordID<Placed>()
    var values: Marker.Values

    static let attributes: Void = ()
    static let schema = EntitySchema<Placed>(
      "Marker",
      attributes: [
        .init("title", \.values.title), .init("tags", \.values.tags),
        .init("latitude", \.values.latitude), .init("longitude", \.values.longitude),
        .init("hue", \.values.hue),
      ],
      indexes: [[\.values.title]],
      placeIndexes: [.init(.init(\.values.latitude), .init(\.values.longitude))])

    init(_ values: Marker.Values) { self.values = values }

    init(from reader: inout RecordReader) throws(StoreError) {
      values = try Marker.Values(from: &reader)
    }

    func encode(into writer: inout RecordWriter) { values.encode(into: &writer) }
  }

  @Test func `is named by a comparison with another file`() throws {
    let old = try TemporaryFolder()
    let new = try TemporaryFolder()
    var numbers = SeededNumbers(salt: 5)
    for path in [old.storePath, new.storePath] {
      let plain = try Store(at: path, entities: [Marker.Plain.self])
      try plain.insert((0..<Self.count).map { _ in Marker.Plain(Marker.Values(&numbers)) })
      plain.close()
    }
    try Store(at: new.storePath, entities: [Placed.self], options: Self.options()).close()
    for isComplete in [false, true] {
      if isComplete { try Store(at: new.storePath, entities: [Placed.self]).close() }
      let stores = try [old.storePath, new.storePath].map { try Store(at: $0, entities: []) }
      let found = try stores[1].differences(from: stores[0]).schema.map {
        "\($0.name): \($0.new ?? "")"
      }
      let state = isComplete ? "" : ", being built"
      #expect(
        found == [
          "title: not unique\(state)", "place(latitude+longitude): places, others refused\(state)",
        ])
      for store in stores { store.close() }
    }
    try expectSound(new.storePath)
  }

  private struct Refusal: Error {}

  /// Makes changes that are committed, undone or abandoned.
  private func change(_ store: Store, _ numbers: inout SeededNumbers) throws {
    let first = UInt64(numbers.below(Self.count) + 1)
    let ids = (first..<first + 90).map { Marker.Indexed.ID(rawValue: $0) }
    let new = (0..<40).map { _ in Marker.Indexed(Marker.Values(&numbers)) }
    let other = new.map(\.values).shuffled(using: &numbers)
    let changed = ids.filter { _ in numbers.below(3) == 0 }
    try store.write { tx in
      try tx.insert(new)
      #expect(throws: Refusal.self) {
        try tx.savepoint { inner in
          try inner.insert(new)
          for id in ids { try inner.delete(id) }
          throw Refusal()
        }
      }
      for (id, values) in zip(changed + changed, other) where try tx.fetch(id) != nil {
        try tx.modify(id) { $0.values = values }
      }
      try tx.delete(Marker.Indexed.where(format: "_id > \(first + 90) AND _id < \(first + 99)"))
    }
    if numbers.below(2) == 0 { try store.undo(store.historyToken()) }
    #expect(throws: Refusal.self) {
      try store.write { tx in
        try tx.delete(Marker.Indexed.all)
        try tx.insert(new)
        throw Refusal()
      }
    }
    if numbers.below(12) == 0 { try store.delete(Marker.Indexed.where(format: "_id > 1250")) }
    try expectSound(store)
    try expectFound(store)
  }

  @Test(arguments: [1, 2] as [UInt64])
  func `follows changes of several stores, undone writes and failed ones`(salt: UInt64)
    async throws
  {
    var numbers = SeededNumbers(salt: 7_500 + salt)
    let folder = try folder(left: numbers.below(4), salt: salt)
    var options = Self.options()
    options.history = .images
    for _ in 0..<4 {
      let stores = try [options, options, Self.options()].map {
        try Store(at: folder.storePath, entities: [Marker.Indexed.self], options: $0)
      }
      for store in stores[..<2] { try change(store, &numbers) }
      for store in stores { store.close() }
    }
    try await expectCompletes(folder.storePath)
  }

  @Test(arguments: [0, 2])
  func `begins again after stages change the attributes`(left: Int) async throws {
    let folder = try folder(left: left)
    let stage = MigrationStage(
      to: 1, .convert("title", of: "Marker") { (text: String) in text + " amber" })
    let store = try Store(
      at: folder.storePath, entities: [Marker.Indexed.self], migrating: [stage],
      options: Self.options())
    try await store.waitForIndexes()
    try expectFound(store)
    store.close()
    try await expectCompletes(folder.storePath)
  }
}
