internal import Foundation
internal import LodestoreFormat
internal import LodestoreJSON

/// The state of a dataset's folder.
///
/// Every process reads the state, and the process that refreshes writes it.
struct CacheState: Sendable, Equatable {
  /// An installed generation.
  struct Installed: Sendable, Equatable {
    var generation: UInt64
    var source: DatasetGeneration.Source
    var dataAsOf: Date
    var builtAt: Date
    var installedAt: Date
    /// The fs-verity digest of the file in hexadecimal; `nil` if the digest was not calculated.
    var digest: String?
    /// The schema's digest from the seal.
    var schema: String
    /// The keys that signed the generation; empty for a dataset without a publisher, `nil` for a
    /// file without a signature.
    var keys: String?
  }

  /// The last failed refresh, if none has succeeded since.
  struct Failure: Sendable, Equatable {
    var code: String
    var message: String
    var date: Date
  }

  var name: String
  /// The usable generations, the current one first.
  ///
  /// Later elements have lower numbers, and serve programs whose entities do not fit the first.
  private(set) var installed: [Installed] = []
  /// The publisher's keys and the generations that they have signed.
  var trust = CacheTrust()
  /// The time of the last successful check, in which the origin stated its newest generation.
  var lastChecked: Date?
  /// The address of the mirror or service that answered the last successful check.
  var lastPlace: String?
  /// The latest time at which a refresh began.
  ///
  /// The time never decreases.
  var latestTime: Date?
  /// The number of refreshes of this folder that have ended, by any process.
  ///
  /// A process that waits for the lock compares the number before and after the wait. A higher
  /// number means that another process has refreshed the folder.
  var refreshCount: UInt64 = 0
  /// The number of consecutive failed refreshes.
  var failureCount = 0
  /// The time before which no refresh begins automatically.
  var nextAttempt: Date?
  var lastFailure: Failure?
  /// The HTTP entity tags (ETag) of the manifest, by the address from which it was fetched.
  var manifestTags: [String: String] = [:]
  /// The mirrors that the last verified manifest names.
  var mirrors: [String] = []
  /// The keys of the program that obtained ``manifestTags``.
  ///
  /// A program with other keys does not use the tags, and so verifies the manifest again.
  var tagKeys: String?
  /// The name of the last patch that could not be applied.
  ///
  /// This patch is not fetched again.
  var failedPatch: String?
  /// For each program, the last schema that its entities did not fit: fingerprints by the
  /// fingerprint of the program's entities.
  private(set) var unfitSchemas: [String: String] = [:]
  /// For each mirror, the time before which its server asked not to receive requests (Retry-After).
  var notBefore: [String: Date] = [:]
  /// The highest generation number that the cache held just before the last generation of a service
  /// became current.
  var numberBefore: UInt64 = 0
  /// The content digest of a generation for which a later refresh from the service found no
  /// changes.
  var confirmedContent: String?
  /// The date to which the unchanged data of ``confirmedContent`` is current.
  var confirmedAsOf: Date?
  /// The content digest of the generation whose records are in the store that the importer writes
  /// to.
  ///
  /// The store was copied from that generation, or the generation was sealed from the store.
  var importedContent: String?
  /// The time when the state was rebuilt from the sealed files because it could not be read.
  var rebuiltAt: Date?

  init(name: String) { self.name = name }

  var current: Installed? { installed.first }

  /// Makes a generation the current one.
  ///
  /// The newest generation of another schema is kept for programs that cannot use the new
  /// generation.
  ///
  /// The tags of manifests are removed. A mirror that still has the old manifest would otherwise
  /// answer "unchanged", and its old files could not be detected.
  ///
  /// - Parameter kept: The generation that this program continues to use, if it cannot use the new
  ///   one.
  mutating func install(_ new: Installed, keeping kept: UInt64? = nil) {
    let others = installed.filter { $0.generation < new.generation }
    let older = others.first { $0.schema != new.schema }
    installed =
      [new]
      + others.filter { $0.generation == older?.generation || $0.generation == kept }
    trust.anyNumberUntil = nil
    manifestTags = [:]
  }

  /// Records that `keys` have signed an installed generation, which had no signature or one by
  /// other keys before.
  mutating func sign(_ generation: UInt64, by keys: String) {
    guard let index = installed.firstIndex(where: { $0.generation == generation }) else { return }
    installed[index].keys = keys
  }

  /// Records that a program's entities do not fit a schema; keeps this for the last 16 programs.
  mutating func refuse(schema: String, for program: String) {
    if unfitSchemas.count >= 16, unfitSchemas[program] == nil { unfitSchemas = [:] }
    unfitSchemas[program] = schema
  }

  /// Records the time until which a mirror must not be requested.
  ///
  /// The state has the times of at most 32 mirrors. The time of a further mirror replaces all of
  /// them.
  mutating func keepFrom(_ place: String, until date: Date) {
    if notBefore.count >= 32, notBefore[place] == nil { notBefore = [:] }
    notBefore[place] = date
  }

  /// Stores the entity tag of the manifest at an address; keeps the tags of the last 16 addresses.
  mutating func remember(_ tag: String, of place: String, by carried: TrustedKeys) {
    guard tag.utf8.count <= 512, place.utf8.count <= 2_048 else { return }
    if tagKeys != carried.description { (manifestTags, tagKeys) = ([:], carried.description) }
    if manifestTags.count >= 16, manifestTags[place] == nil { manifestTags = [:] }
    manifestTags[place] = tag
  }

  /// The entity tag of a manifest that the keys of this program have verified.
  func tag(of place: String, by carried: TrustedKeys) -> String? {
    tagKeys == carried.description ? manifestTags[place] : nil
  }
}

extension CacheState {
  /// The age of a generation's data.
  ///
  /// A refresh from a service that finds no new data gives the generation a later date.
  func age(of open: OpenGeneration) -> DatasetAge {
    var dataAsOf = open.seal.dataAsOf
    if let confirmedAsOf, confirmedContent == open.seal.contentDigest {
      dataAsOf = max(dataAsOf, confirmedAsOf)
    }
    return DatasetAge(dataAsOf: dataAsOf, builtAt: open.seal.sealedAt, lastChecked: lastChecked)
  }

  private static let version = 1
  private static let byteLimit = 1 << 20

  /// The reason why a state cannot be used.
  enum Unreadable: Error, Equatable {
    case damaged
    /// A later version of the library has written the state.
    case newer
  }

  /// Reads the state; `nil` if there is none.
  ///
  /// - Throws: ``Unreadable`` for anything else at the path, such as a folder or a long file.
  static func read(_ folder: DatasetFolder) throws -> CacheState? {
    guard let bytes = try bytes(of: folder.state) else { return nil }
    return try CacheState(bytes)
  }

  private static func bytes(of path: String) throws -> [UInt8]? {
    guard let status = SystemFile.stamp(of: path) else { return nil }
    guard status.isRegular, status.length <= byteLimit else { throw Unreadable.damaged }
    return try SystemFile.bytes(of: path, atMost: byteLimit)
  }

  /// Reads the copy of the facts about the publisher's keys, which is used when the state is
  /// damaged; `nil` if the copy is damaged too.
  static func readTrust(_ folder: DatasetFolder, name: String) -> CacheTrust? {
    guard let bytes = try? bytes(of: folder.trust), let json = try? checked(bytes),
      json["version"]?.intValue == version, json["dataset"]?.stringValue == name
    else { return nil }
    return json["trust"].flatMap(CacheTrust.init)
  }

  /// Writes the copy of the facts about the publisher's keys, if they have changed, and then the
  /// state.
  func write(_ folder: DatasetFolder) throws(DatasetError) {
    let copy = Self.lines(
      .object([
        "version": .integer(Int64(Self.version)), "dataset": .string(name), "trust": trust.json,
      ]))
    if (try? Self.bytes(of: folder.trust)) != copy {
      try Self.replace(folder.trust, with: copy)
    }
    try Self.replace(folder.state, with: bytes)
  }

  private static func replace(_ path: String, with bytes: [UInt8]) throws(DatasetError) {
    // A folder at the path is renamed, because renaming a file cannot replace a folder.
    if SystemFile.stamp(of: path)?.isFolder == true {
      try SystemFile.move(path, to: path + ".damaged")
    }
    try SystemFile.replace(path, with: bytes)
  }

  // MARK: Bytes

  /// The state as a line of JSON and a line with the JSON's SHA-256.
  var bytes: [UInt8] {
    var members: [String: JSONValue] = [
      "version": .integer(Int64(Self.version)), "dataset": .string(name),
      "failureCount": .integer(Int64(failureCount)), "refreshCount": JSONValue(refreshCount),
      "trust": trust.json, "installed": .array(installed.map(\.json)),
    ]
    members["lastChecked"] = lastChecked.map(\.json)
    members["lastPlace"] = lastPlace.map { .string($0.cut(to: 4_096)) }
    members["latestTime"] = latestTime.map(\.json)
    members["nextAttempt"] = nextAttempt.map(\.json)
    members["lastFailure"] = lastFailure.map(\.json)
    members["manifestTags"] =
      manifestTags.isEmpty ? nil : .object(manifestTags.mapValues { .string($0) })
    members["mirrors"] = mirrors.isEmpty ? nil : .array(mirrors.map { .string($0) })
    members["tagKeys"] = tagKeys.map { .string($0) }
    members["failedPatch"] = failedPatch.map { .string($0) }
    members["unfitSchemas"] =
      unfitSchemas.isEmpty ? nil : .object(unfitSchemas.mapValues { .string($0) })
    members["notBefore"] = notBefore.isEmpty ? nil : .object(notBefore.mapValues(\.json))
    members["numberBefore"] = numberBefore == 0 ? nil : JSONValue(numberBefore)
    members["confirmedContent"] = confirmedContent.map { .string($0) }
    members["confirmedAsOf"] = confirmedAsOf.map(\.json)
    members["importedContent"] = importedContent.map { .string($0) }
    members["rebuiltAt"] = rebuiltAt.map(\.json)
    return Self.lines(.object(members))
  }

  private static func lines(_ json: JSONValue) -> [UInt8] {
    let line = Array(json.description.utf8)
    return line + [0x0A] + Array(HexText.encoded(SHA256.hash(line)).utf8) + [0x0A]
  }

  /// The JSON of a state whose digest is right.
  private static func checked(_ bytes: [UInt8]) throws(Unreadable) -> JSONValue {
    let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
    guard lines.count == 3, lines[2].isEmpty,
      Array(HexText.encoded(SHA256.hash(Array(lines[0]))).utf8) == Array(lines[1]),
      let json = try? JSONValue(parsing: lines[0])
    else { throw .damaged }
    return json
  }

  init(_ bytes: [UInt8]) throws(Unreadable) {
    let json = try Self.checked(bytes)
    guard let version = json["version"]?.intValue else { throw .damaged }
    guard version <= Self.version else { throw .newer }
    guard let name = json["dataset"]?.stringValue, let list = json["installed"]?.arrayValue,
      let trust = json["trust"].flatMap(CacheTrust.init)
    else { throw .damaged }
    self.init(name: name)
    self.trust = trust
    for value in list {
      guard let generation = Installed(value) else { throw .damaged }
      installed.append(generation)
    }
    lastChecked = json["lastChecked"].flatMap(Date.init(json:))
    lastPlace = json["lastPlace"]?.stringValue
    latestTime = json["latestTime"].flatMap(Date.init(json:))
    refreshCount = json["refreshCount"]?.uint64Value ?? 0
    failureCount = min(max(json["failureCount"]?.intValue ?? 0, 0), 1 << 20)
    nextAttempt = json["nextAttempt"].flatMap(Date.init(json:))
    lastFailure = json["lastFailure"].flatMap(Failure.init)
    manifestTags = json["manifestTags"]?.objectValue?.compactMapValues(\.stringValue) ?? [:]
    mirrors = json["mirrors"]?.arrayValue?.compactMap(\.stringValue) ?? []
    tagKeys = json["tagKeys"]?.stringValue
    failedPatch = json["failedPatch"]?.stringValue
    unfitSchemas = json["unfitSchemas"]?.objectValue?.compactMapValues(\.stringValue) ?? [:]
    notBefore = json["notBefore"]?.objectValue?.compactMapValues { Date(json: $0) } ?? [:]
    numberBefore = json["numberBefore"]?.uint64Value ?? 0
    confirmedContent = json["confirmedContent"]?.stringValue
    confirmedAsOf = json["confirmedAsOf"].flatMap(Date.init(json:))
    importedContent = json["importedContent"]?.stringValue
    rebuiltAt = json["rebuiltAt"].flatMap(Date.init(json:))
  }
}

extension CacheState.Installed {
  fileprivate var json: JSONValue {
    var members: [String: JSONValue] = [
      "generation": JSONValue(generation), "source": .string(source.rawValue),
      "dataAsOf": dataAsOf.json, "builtAt": builtAt.json, "installedAt": installedAt.json,
      "schema": .string(schema),
    ]
    members["digest"] = digest.map { .string($0) }
    members["keys"] = keys.map { .string($0) }
    return .object(members)
  }

  fileprivate init?(_ json: JSONValue) {
    guard let generation = json["generation"]?.uint64Value,
      let source = json["source"]?.stringValue.flatMap(DatasetGeneration.Source.init(rawValue:)),
      let dataAsOf = json["dataAsOf"].flatMap(Date.init(json:)),
      let builtAt = json["builtAt"].flatMap(Date.init(json:)),
      let installedAt = json["installedAt"].flatMap(Date.init(json:)),
      let schema = json["schema"]?.stringValue
    else { return nil }
    self.init(
      generation: generation, source: source, dataAsOf: dataAsOf, builtAt: builtAt,
      installedAt: installedAt, digest: json["digest"]?.stringValue, schema: schema,
      keys: json["keys"]?.stringValue)
  }
}

extension CacheState.Failure {
  fileprivate var json: JSONValue {
    .object(["code": .string(code), "message": .string(message.cut(to: 4_096)), "date": date.json])
  }

  fileprivate init?(_ json: JSONValue) {
    guard let code = json["code"]?.stringValue, let message = json["message"]?.stringValue,
      let date = json["date"].flatMap(Date.init(json:))
    else { return nil }
    self.init(code: code, message: message, date: date)
  }
}

extension Date {
  /// The date in milliseconds since 1970.
  ///
  /// A date before 1677 or after 2262 becomes the nearest date of these years.
  var json: JSONValue {
    let milliseconds = timeIntervalSince1970 * 1000
    guard milliseconds.isFinite else { return .integer(0) }
    return .integer(Int64(min(max(milliseconds, -9.2e12), 9.2e12)))
  }

  init?(json: JSONValue) {
    guard let milliseconds = json.int64Value, abs(Double(milliseconds)) <= 9.2e12 else {
      return nil
    }
    self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
  }
}

extension String {
  /// The text, shortened to a number of bytes if it is longer.
  fileprivate func cut(to limit: Int) -> String {
    guard utf8.count > limit else { return self }
    var text = String(decoding: utf8.prefix(limit), as: UTF8.self)
    if text.last == "\u{FFFD}" { text.removeLast() }
    return text + "…"
  }
}
