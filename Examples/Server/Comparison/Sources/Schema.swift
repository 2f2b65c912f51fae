import Foundation
import GRDB
import Lodestore
import PodServer

extension DatabasePool {
  /// Makes the tables and copies all podspecs of a store of the server, in one transaction.
  func fill(fromStore path: String) async throws {
    if try await read({ try $0.tableExists("podspec") }) { return }
    let store = try await PodStore(at: path).store
    defer { store.close() }
    let (pods, specs) = try await store.read { snapshot in
      (
        try snapshot.fetch(Pod.all),
        try snapshot.fetch(Podspec.all, including: Podspec.dependencies)
      )
    }
    try await write { db in
      try db.makeTables()
      for pod in pods {
        try db.execute(
          sql: "INSERT INTO pod (id, name) VALUES (?, ?)",
          arguments: [Int64(pod.id.rawValue), pod.name])
      }
      let insert = try db.makeStatement(
        sql: "INSERT INTO podspec VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      for (spec, needs) in specs {
        let id = Int64(spec.id.rawValue)
        try insert.execute(arguments: [
          id, spec.name, spec.version, spec.summary, spec.homepage, spec.license,
          spec.authors.description, spec.authorNames, spec.platforms.description,
          spec.requirements.description, spec.sortName, spec.versionOrder,
          spec.changedAt.timeIntervalSinceReferenceDate,
          spec.pod.map { Int64($0.rawValue) },
        ])
        for pod in needs {
          try db.execute(
            sql: "INSERT INTO dependency VALUES (?, ?)", arguments: [id, Int64(pod.id.rawValue)])
        }
      }
    }
  }
}

extension Database {
  fileprivate func makeTables() throws {
    try create(table: "pod") { table in
      table.primaryKey("id", .integer)
      table.column("name", .text).notNull().unique()
    }
    try create(table: "podspec") { table in
      table.primaryKey("id", .integer)
      table.column("name", .text).notNull()
      table.column("version", .text).notNull()
      table.column("summary", .text).notNull()
      table.column("homepage", .text)
      table.column("license", .text)
      table.column("authors", .text).notNull()
      table.column("authorNames", .text).notNull()
      table.column("platforms", .text).notNull()
      table.column("requirements", .text).notNull()
      table.column("sortName", .text).notNull()
      table.column("versionOrder", .text).notNull()
      table.column("changedAt", .double).notNull()
      table.column("podID", .integer).references("pod")
      table.uniqueKey(["name", "version"])
    }
    try create(
      index: "podspecByLicense", on: "podspec", columns: ["license", "sortName", "versionOrder"])
    try create(table: "dependency", options: .withoutRowID) { table in
      table.column("podspecID", .integer).notNull().references("podspec")
      table.column("podID", .integer).notNull().references("pod")
      table.primaryKey(["podspecID", "podID"])
    }
  }
}
