#if Macros
  import Foundation
  import Lodestore

  // The Lodestore column of the tables of the article ComingFromGRDB; see `ComingFromTests`.

  @Entity struct Sensor {
    #Unique<Sensor>([\.serial])
    #Index<Sensor>([\.installedAt], [\.kind, \.serial])
    #Search<Sensor>([\.serial, \.notes])
    @Attribute(constraints: [.length(1...40)]) var serial: String
    var kind: Kind = .thermometer
    var installedAt: Date
    var notes: String = ""
    var settings: JSONValue = .null
    @Derived(.lowercase(\Sensor.serial)) private(set) var lowerSerial = ""
    @Derived(.member(\Sensor.settings, "unit", as: String.self)) private(set) var unit: String?
    @Derived(.insertedAt) private(set) var insertedAt = Date.distantPast
    static let rules = [RecordRule<Sensor>("no space in a serial") { !$0.serial.contains(" ") }]

    enum Kind: String, Codable, Sendable { case thermometer, barometer }
  }

  enum GRDBPhrases {
    static func opening(_ path: String) throws {
      _ = try Store(at: path, entities: [Station.self, Reading.self, Network.self])
      _ = try Store.inMemory(entities: [Station.self, Reading.self, Network.self])
      _ = try Store(
        at: path, entities: [Station.self, Reading.self, Network.self], options: .readOnly)
      let store = try Store.inMemory(entities: [Sensor.self])
      store.close()
    }

    static func reading(_ store: Store, _ id: Station.ID, _ ids: [Station.ID]) async throws {
      _ = try await store.fetch(Station.all)
      _ = try await store.first(Station.where { $0.code == "S1" })
      _ = try await store.fetch(id)
      _ = try await store.fetch(Station.key(code: "S1"))
      _ = try await store.fetch(Station.all.sorted(by: \.altitude.descending, \.name.ascending))
      _ = try await store.fetch(Station.all.limit(10).offset(20))
      _ = try await store.count(Station.all)
      _ = try await store.exists(Station.all)
      try await store.read { snapshot in
        _ = try snapshot.fetch(ids)
        try snapshot.forEach(Station.all) { station in print(station.name) }
        _ = try snapshot.values(Station.all, \.code, \.name)
        _ = try snapshot.values(Station.all, \.name, distinct: true)
        _ = try snapshot.groups(Reading.all, by: \.station, .maximum(\.celsius))
        _ = try snapshot.groups(Reading.all, by: \.station, having: { $0.count > 10 })
        _ = try snapshot.aggregate(Reading.all, .average(\.celsius), .maximum(\.takenAt))
        _ = try snapshot.fetch(Reading.all, including: \.station)
        _ = try snapshot.fetch(Station.all, including: Station.readings)
        _ = try snapshot.related(Station.readings, of: id)
        _ = try snapshot.explain(Station.all.sorted(by: \.name))
        try snapshot.forEachView(Station.all) { station in print(station.name.utf8Count) }
        _ = try snapshot.page(Station.all.sorted(by: \.code).limit(50))
      }
      let snapshot = try store.snapshot()
      snapshot.end()
    }

    static func conditions(_ ids: [Station.ID], _ name: String?) throws {
      _ = Station.where { $0.altitude > 1_000 }
      _ = Station.where {
        $0.name.isLike("S*")
        if let name { $0.name == name }
      }
      _ = try Station.where(format: "altitude BETWEEN {0, 500} OR name LIKE 'S*'")
      _ = Station.where { $0.id.isIn(ids) }
      _ = Reading.where { $0.station[\.name] == "Summit" }
      _ = Station.where { $0.readings.any { $0.celsius < 0 } }
      _ = Station.where { $0.readings.isEmpty }
      _ = Station.where { $0.readings.maximum(\.celsius) > 30 }
      _ = Reading.where { $0.extra["wind"]["speed"] > 10 }
      _ = try Reading.where(format: "celsius * 1.8 + 32 > 100")
      _ = Station.all.requiringIndex()
      _ = Sensor.where { $0.search("mast OR roof") }.sortedByScore()
    }

    static func writing(_ store: Store, _ station: Station, _ stations: [Station]) async throws {
      try await store.write { tx in
        let stored = try tx.insert(station)
        try tx.update(stored)
        try tx.modify(stored.id) { $0.name = "Peak" }
        try tx.modify(Station.key(code: "S1")) { $0.altitude = 2_964 }
        try tx.upsert(station)
        try tx.insert(station, onConflict: .ignore)
        try tx.insert(stations, onConflict: .patch([\.name]))
        try tx.insert(stations)
        try tx.update(Reading.where { $0.celsius > 60 }) { $0.celsius.subtract(273.15) }
        try tx.delete(stored.id)
        try tx.delete(Reading.where { $0.celsius < -90 })
        _ = try tx.deleteReturning(Station.where { $0.name == "" })
        try tx.savepoint { inner in _ = try inner.upsert(station) }
      }
    }

    static func relating(_ store: Store, _ station: Station, _ network: Network) throws {
      try store.write { tx in
        try tx.add(network.id, to: Station.networks, of: station.id)
        try tx.remove(network.id, from: Station.networks, of: station.id)
      }
    }

    static func following(_ store: Store, _ id: Station.ID) async throws {
      for try await update in store.updates(of: Station.all.sorted(by: \.name)) {
        print(update.items.count)
      }
      for try await count in store.updates(ofCount: Reading.all) { print(count) }
      for try await names in store.updates({ try $0.values(Station.all, \.name) }) { print(names) }
      let hook = store.onCommit { print($0.changes.count) }
      hook.cancel()
      let check = store.beforeChanges(of: Station.self) { change in print(change) }
      check.cancel()
    }

    static func migrating(_ path: String) throws {
      let stages = [
        MigrationStage(to: 1, .rename("label", of: "Station", to: "name")),
        MigrationStage(
          to: 2,
          .custom("fahrenheit") { migration in
            try migration.forEach("Reading") { reading in
              try migration.update("Reading", reading.id) { $0["celsius"] = 20.0 }
            }
          }),
      ]
      _ = try Store(at: path, entities: [Station.self, Reading.self], migrating: stages)
      _ = try Store.schemaChanges(
        at: path, opening: [Station.self, Reading.self], migrating: stages)
    }
  }
#endif
