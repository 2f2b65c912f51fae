internal import EntityStore
internal import LodestoreFormat

extension FollowerLoop {
  /// Opens the copy in a folder, or makes one from the newest base.
  static func open(
    _ folder: FollowerFolder, _ client: ReplicaClient, _ types: [any Entity.Type],
    _ options: ReplicaFollowerOptions
  ) async throws -> FollowerLoop {
    var options = options
    try options.checkID()
    try options.check(types)
    options.conditions = try options.checkedConditions()
    try folder.make()
    let lock = try folder.locked()
    var reason: String?
    if let path = try folder.current {
      let file = try FollowerFile(path)
      let mark = try file.mark()
      guard mark.role == .follower else { throw ReplicaError.isWriter(path) }
      let cursor = try await file.writable.read { try $0.replicaCursor() }
      guard let cursor, cursor.entities.map(Set.init) == options.followedEntities.map(Set.init)
      else { throw ReplicaError.otherEntities(path) }
      if cursor.conditions == options.conditions {
        let store = UUIDBytes(bytes: cursor.storeID)
        let loop = try FollowerLoop(
          folder, lock, client, types, options, store, file, mark.position(of: store), mark.floor)
        try await loop.checkReplicaAtOpening()
        return loop
      }
      file.writable.close()
      reason = ConditionChange(cursor.conditions, options.conditions, path).text
    }
    let limited = client.giving(upAfter: options.failureLimit)
    let replica = try await Self.info(client).store
    var search = FollowerCursor(store: replica, position: nil, floor: .none)
    while true {
      switch try await limited.run(&search) {
      case .swap(let base):
        do {
          let file = try await install(base, folder, limited, options, floor: search.floor)
          let loop = try FollowerLoop(
            folder, lock, client, types, options, replica, file, base.position, search.floor,
            newCopyReason: reason)
          await loop.noteCheckedReplica()
          try folder.setCurrent(Self.name(of: file.path))
          return loop
        } catch is BaseDownload.Unusable { search.goOn(baseIsUnusable: true) }
      case .apply, .noBase: throw ReplicaError.noBase(client.place)
      case .refused(let error): throw ReplicaError(error)
      }
    }
  }

  static func info(_ client: ReplicaClient) async throws -> ReplicaInfo {
    guard let bytes = try await client.giving(upAfter: 6).object(.info) else {
      throw ReplicaError(
        .noBase,
        "cannot find a replica in '\(client.place)': it has no '\(ReplicaName.info.text)'; check "
          + "the address, or open a writer first")
    }
    return try WriterOpening.reading { () throws(PackError) in
      try ReplicaInfo(reading: bytes, named: ReplicaName.info.text)
    }
  }

  static func name(of path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
  }
}

/// The difference between the conditions of a copy and those of its follower.
private struct ConditionChange {
  let text: String

  init(_ old: [String: String], _ new: [String: String], _ path: String) {
    let names = Set(old.keys).union(new.keys).sorted().filter { old[$0] != new[$0] }
    let list = names.map { name in
      "\(name) by \(old[name].map { "'\($0)'" } ?? "no condition")"
    }
    text =
      "the copy '\(path)' followed \(list.joined(separator: ", ")); it was replaced by a new copy"
  }
}

extension ReplicaError {
  static func noBase(_ place: String) -> ReplicaError {
    ReplicaError(
      .noBase,
      "cannot start from '\(place)': it has no base that can be used; wait until the writer has "
        + "written one")
  }

  static func isWriter(_ path: String) -> ReplicaError {
    ReplicaError(
      .unsuitableStore,
      "cannot follow with '\(path)': the store has taken over and writes the replica; open a "
        + "writer on it, or use another folder")
  }
}
