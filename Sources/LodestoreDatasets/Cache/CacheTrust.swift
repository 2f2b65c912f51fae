internal import Foundation
internal import LodestoreFormat
internal import LodestoreJSON

/// A folder's knowledge of the publisher's keys and of the generations that they signed.
///
/// The state contains it, and the file `trust.json` has a copy, for a damaged state.
struct CacheTrust: Sendable, Equatable {
  /// The key set reached by following the publisher's chain from the set that a program carries.
  struct Chain: Sendable, Equatable {
    /// The key set that the program carries, as text; empty for a dataset without a publisher.
    var carried: String
    /// The newest key set of the chain that was verified, as text.
    var keys: String
    /// The highest generation that this cache has verified with these keys.
    var highestSeen: UInt64 = 0
  }

  /// One chain for each set that a program carries.
  ///
  /// The last used chain is at the end.
  private(set) var chains: [Chain] = []
  /// The digest of a published file that has a valid signature, but cannot be opened as a sound
  /// store.
  ///
  /// Such a file is not fetched again.
  var refusedDigest: String?
  /// The time until which the next generation may have any number, after
  /// ``CachedDataset/forgetHighest()``.
  var anyNumberUntil: Date?
  /// Whether the next generation may have any number.
  var takesAnyNumber: Bool { anyNumberUntil != nil }

  /// The time in seconds for which the next generation may have any number after
  /// ``CachedDataset/forgetHighest()``.
  private static let anyNumberTime: TimeInterval = 7 * 86_400

  /// The maximum number of chains, one for each version of a program.
  private static let chainLimit = 16

  /// The keys that a program trusts: the newest set that was verified by following the publisher's
  /// chain from the program's own set.
  ///
  /// A program whose keys begin no known chain starts its own chain.
  func keys(from carried: TrustedKeys) -> TrustedKeys {
    let known = chains.first { $0.carried == carried.description }
    guard let known, let keys = try? TrustedKeys(known.keys), keys.number > carried.number else {
      return carried
    }
    return keys
  }

  /// The text of the keys that a program trusts; empty without keys.
  func text(from carried: TrustedKeys?) -> String {
    carried.map { keys(from: $0).description } ?? ""
  }

  /// The highest generation in this cache that was verified with the keys of a program; 0 for a new
  /// key set.
  func highestSeen(from carried: TrustedKeys?) -> UInt64 {
    let text = text(from: carried)
    return chains.filter { $0.keys == text }.map(\.highestSeen).max() ?? 0
  }

  /// Stores the keys that a chain leads to, and a generation that they signed.
  mutating func keep(_ keys: TrustedKeys?, from carried: TrustedKeys?, generation: UInt64 = 0) {
    var chain = Chain(carried: carried?.description ?? "", keys: keys?.description ?? "")
    let index = chains.firstIndex { $0.carried == chain.carried }
    if let index {
      let old = chains.remove(at: index)
      if old.keys == chain.keys { chain.highestSeen = old.highestSeen }
    }
    chain.highestSeen = max(chain.highestSeen, generation)
    chains = chains.suffix(Self.chainLimit - 1) + [chain]
  }

  /// Removes the highest generations and the refused file.
  ///
  /// The keys stay.
  mutating func forgetHighest(at now: Date) {
    for index in chains.indices { chains[index].highestSeen = 0 }
    refusedDigest = nil
    anyNumberUntil = now.addingTimeInterval(Self.anyNumberTime)
  }

  /// Ends the effect of ``forgetHighest(at:)`` when its time is over.
  ///
  /// The effect also ends if the clock was set back, because the passed time is then unknown.
  mutating func endForgetting(at now: Date) {
    guard let until = anyNumberUntil else { return }
    if until <= now || until > now.addingTimeInterval(Self.anyNumberTime) { anyNumberUntil = nil }
  }
}

extension CacheTrust {
  var json: JSONValue {
    var members: [String: JSONValue] = [
      "chains": .array(
        chains.map {
          .object([
            "carried": .string($0.carried), "keys": .string($0.keys),
            "highestSeen": JSONValue($0.highestSeen),
          ])
        })
    ]
    members["anyNumberUntil"] = anyNumberUntil.map(\.json)
    members["refusedDigest"] = refusedDigest.map { .string($0) }
    return .object(members)
  }

  /// Reads the result of ``json``; `nil` for anything else.
  init?(_ json: JSONValue) {
    guard let chains = json["chains"]?.arrayValue, chains.count <= Self.chainLimit else {
      return nil
    }
    for chain in chains {
      guard let carried = chain["carried"]?.stringValue, let keys = chain["keys"]?.stringValue,
        let highest = chain["highestSeen"]?.uint64Value
      else { return nil }
      self.chains.append(Chain(carried: carried, keys: keys, highestSeen: highest))
    }
    refusedDigest = json["refusedDigest"]?.stringValue
    anyNumberUntil = json["anyNumberUntil"].flatMap(Date.init(json:))
  }
}
