internal import Foundation
internal import LodestoreFormat
internal import LodestoreJSON

/// The state of a dataset's folder, which every process reads and the one that refreshes writes.
struct CacheState: Sendable, Equatable {
  /// The generation that readers get.
  struct Installed: Sendable, Equatable {
    var generation: UInt64
    var source: DatasetGeneration.Source
    var dataAsOf: Date
    var builtAt: Date
    var installedAt: Date
    /// The fs-verity digest of the file, in hexadecimal digits; nil when it was not calculated.
    var digest: String?
  }

  /// The last refresh that failed, since which none has succeeded.
  struct Failure: Sendable, Equatable {
    var code: String
    var message: String
    var date: Date
  }

  var name: String
  var current: Installed?
  /// The highest generation that was ever verified here, which never falls.
  var highestSeen: UInt64 = 0
  /// When the origin last said which generation is its newest.
  var lastChecked: Date?
  /// Where it said so.
  var lastPlace: String?
  /// The latest time at which a refresh began, which never falls.
  var latestTime: Date?
  /// How many refreshes have ended here, so that a process that waited for another one notices it.
  var refreshCount: UInt64 = 0
  /// How many refreshes in a row have failed.
  var failureCount = 0
  /// Before this time no refresh begins by itself.
  var nextAttempt: Date?
  var lastFailure: Failure?
  /// The entity tags of the manifest by its address.
  var manifestTags: [String: String] = [:]
  /// The mirrors that the last verified manifest names.
  var mirrors: [String] = []
  /// The newest set of the publisher's keys that a chain from the program's own leads to.
  var trustedKeys: String?
  /// The name of the patch that could not be applied last; it is not fetched again.
  var failedPatch: String?
  /// The digest of a file whose signature was right and whose content is no usable store; it is not fetched again.
  var refusedDigest: String?
  /// When the state was rebuilt of the sealed files because it could not be read.
  var rebuiltAt: Date?

  init(name: String) { self.name = name }

  /// Remembers the entity tag of the manifest at an address, for the last 16 addresses.
  mutating func remember(_ tag: String, of place: String) {
    if manifestTags.count >= 16, manifestTags[place] == nil { manifestTags = [:] }
    manifestTags[place] = tag
  }
}

extension CacheState {
  private static let version = 1
  private static let byteLimit = 1 << 20

  /// Why a state cannot be used.
  enum Unreadable: Error, Equatable {
    case damaged
    /// A later version of the library has written it.
    case newer
  }

  /// Reads the state; nil when there is none.
  static func read(_ folder: DatasetFolder) throws -> CacheState? {
    guard let bytes = try SystemFile.bytes(of: folder.state, atMost: byteLimit) else { return nil }
    return try CacheState(bytes)
  }

  func write(_ folder: DatasetFolder) throws(DatasetError) {
    try SystemFile.replace(folder.state, with: bytes)
  }

  // MARK: Bytes

  /// One line of JSON and one with the SHA-256 of the first.
  var bytes: [UInt8] {
    var members: [String: JSONValue] = [
      "version": .integer(Int64(Self.version)), "dataset": .string(name),
      "highestSeen": JSONValue(highestSeen), "failureCount": .integer(Int64(failureCount)),
      "refreshCount": JSONValue(refreshCount),
    ]
    members["current"] = current.map(\.json)
    members["lastChecked"] = lastChecked.map(\.json)
    members["lastPlace"] = lastPlace.map { .string($0) }
    members["latestTime"] = latestTime.map(\.json)
    members["nextAttempt"] = nextAttempt.map(\.json)
    members["lastFailure"] = lastFailure.map(\.json)
    members["manifestTags"] =
      manifestTags.isEmpty ? nil : .object(manifestTags.mapValues { .string($0) })
    members["mirrors"] = mirrors.isEmpty ? nil : .array(mirrors.map { .string($0) })
    members["trustedKeys"] = trustedKeys.map { .string($0) }
    members["failedPatch"] = failedPatch.map { .string($0) }
    members["refusedDigest"] = refusedDigest.map { .string($0) }
    members["rebuiltAt"] = rebuiltAt.map(\.json)
    let line = Array(JSONValue.object(members).description.utf8)
    return line + [0x0A] + Array(HexText.encoded(SHA256.hash(line)).utf8) + [0x0A]
  }

  init(_ bytes: [UInt8]) throws(Unreadable) {
    let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
    guard lines.count == 3, lines[2].isEmpty,
      Array(HexText.encoded(SHA256.hash(Array(lines[0]))).utf8) == Array(lines[1]),
      let json = try? JSONValue(parsing: lines[0]), let version = json["version"]?.intValue
    else { throw .damaged }
    guard version <= Self.version else { throw .newer }
    guard let name = json["dataset"]?.stringValue, let highest = json["highestSeen"]?.uint64Value
    else { throw .damaged }
    self.init(name: name)
    highestSeen = highest
    if let value = json["current"] {
      guard let installed = Installed(value) else { throw .damaged }
      current = installed
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
    trustedKeys = json["trustedKeys"]?.stringValue
    failedPatch = json["failedPatch"]?.stringValue
    refusedDigest = json["refusedDigest"]?.stringValue
    rebuiltAt = json["rebuiltAt"].flatMap(Date.init(json:))
  }
}

extension CacheState.Installed {
  fileprivate var json: JSONValue {
    var members: [String: JSONValue] = [
      "generation": JSONValue(generation), "source": .string(source.rawValue),
      "dataAsOf": dataAsOf.json, "builtAt": builtAt.json, "installedAt": installedAt.json,
    ]
    members["digest"] = digest.map { .string($0) }
    return .object(members)
  }

  fileprivate init?(_ json: JSONValue) {
    guard let generation = json["generation"]?.uint64Value,
      let source = json["source"]?.stringValue.flatMap(DatasetGeneration.Source.init(rawValue:)),
      let dataAsOf = json["dataAsOf"].flatMap(Date.init(json:)),
      let builtAt = json["builtAt"].flatMap(Date.init(json:)),
      let installedAt = json["installedAt"].flatMap(Date.init(json:))
    else { return nil }
    self.init(
      generation: generation, source: source, dataAsOf: dataAsOf, builtAt: builtAt,
      installedAt: installedAt, digest: json["digest"]?.stringValue)
  }
}

extension CacheState.Failure {
  fileprivate var json: JSONValue {
    .object(["code": .string(code), "message": .string(message), "date": date.json])
  }

  fileprivate init?(_ json: JSONValue) {
    guard let code = json["code"]?.stringValue, let message = json["message"]?.stringValue,
      let date = json["date"].flatMap(Date.init(json:))
    else { return nil }
    self.init(code: code, message: message, date: date)
  }
}

extension Date {
  /// Milliseconds since 1970, for a date of the years from 1677 to 2262; the nearest of them for another.
  fileprivate var json: JSONValue {
    let milliseconds = timeIntervalSince1970 * 1000
    guard milliseconds.isFinite else { return .integer(0) }
    return .integer(Int64(min(max(milliseconds, -9.2e12), 9.2e12)))
  }

  fileprivate init?(json: JSONValue) {
    guard let milliseconds = json.int64Value, abs(Double(milliseconds)) <= 9.2e12 else {
      return nil
    }
    self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
  }
}
