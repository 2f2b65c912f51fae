public import Lodestore

/// The podspecs, kept in a store.
public struct PodStore: Sendable {
  /// The store of the podspecs.
  public let store: Store

  /// The entities of the store.
  public static let entities: [any Entity.Type] = [Podspec.self, Pod.self]

  /// The author of the writes in the history.
  static let author = "server"

  /// Opens the store at `path`, or makes it.
  public init(at path: String) async throws {
    store = try await Store.open(at: path, entities: Self.entities)
  }

  /// A store in memory, for previews and tests.
  public init() throws { store = try Store.inMemory(entities: Self.entities) }

  /// Inserts the podspecs of a source into a store that was never filled, and returns their number.
  ///
  /// All inserts are one write, so a killed process leaves an empty store.
  @discardableResult
  public func fill(from source: PodSource) async throws -> Int {
    let isFilled = try await store.read { try $0.value(Bool.self, for: "isFilled", in: "server") }
    if isFilled == true { return 0 }
    let records = try source.records()
    return try await store.write(author: Self.author) { tx in
      for record in records { try tx.put(record) }
      try tx.put(true, for: "isFilled", in: "server")
      return records.count
    }
  }
}

extension WriteTransaction {
  /// Inserts the podspec, or replaces the stored one of the same name and version.
  @discardableResult
  mutating func put(_ record: PodRecord) throws -> Podspec.ID {
    let id = try upsert(Podspec(record, pod: try pod(record.name))).id
    let before = try relatedIDs(Podspec.dependencies, of: id)
    var needs: [Pod.ID] = []
    for name in record.needs { needs.append(try pod(name)) }
    try set(Podspec.dependencies, of: id, to: needs)
    try removeUnused(before)
    return id
  }

  /// Deletes a podspec, and its libraries that no other podspec refers to.
  mutating func remove(_ spec: Podspec) throws {
    let known = try relatedIDs(Podspec.dependencies, of: spec.id) + (spec.pod.map { [$0] } ?? [])
    try delete(spec.id)
    try removeUnused(known)
  }

  /// Returns the library with a name, and makes it if it does not exist.
  private mutating func pod(_ name: String) throws -> Pod.ID {
    try fetch(Pod.key(name: name))?.id ?? insert(Pod(name: name)).id
  }

  private mutating func removeUnused(_ pods: [Pod.ID]) throws {
    for pod in pods
    where try relatedCount(Pod.specs, of: pod) == 0 && relatedCount(Pod.dependents, of: pod) == 0 {
      try delete(pod)
    }
  }
}
