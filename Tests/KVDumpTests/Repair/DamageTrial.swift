import Foundation
import LodestoreBytes
import LodestoreFormat

@testable import LodestoreRepair

/// The result of salvaging one damaged file.
struct DamageOutcome {
  var isWhole = false
  /// Descriptions of losses in stores that the report calls whole.
  var falseWhole: [String] = []
  var intact = 0
  var saved = 0
  /// Names of intact records for which the new store has another value.
  var replaced: [String] = []
  var intactLinks = 0
  var savedLinks = 0
  var intactPositions = 0
  var savedPositions = 0
  var refused: String?
  var lost: [String] = []
}

/// A store that follows from a seed, with the damage of each kind.
struct DamagedSample {
  let folder: StoreFolder
  let sound: SoundFile
  /// The file before the last commit.
  let before: [UInt8]
  private let seed: UInt64
  private let seeds: [RepairDamage: UInt64]

  init(_ seed: UInt64) throws {
    self.seed = seed
    folder = try StoreFolder()
    var numbers = RepairNumbers(seed)
    before = try RepairSample.make(folder.store, &numbers)
    sound = try SoundFile(
      path: folder.store, bytes: Array(try Data(contentsOf: URL(fileURLWithPath: folder.store))))
    var seeds: [RepairDamage: UInt64] = [:]
    for kind in RepairDamage.allCases { seeds[kind] = numbers.next() }
    self.seeds = seeds
  }

  /// Damages a copy and salvages it; `nil` if the store has no content for that kind of damage.
  ///
  /// - Parameter kind: `nil` for a copy without damage.
  func trial(_ kind: RepairDamage?) throws -> DamageOutcome? {
    var maker = DamageMaker(
      sound, before: before, RepairNumbers(kind.flatMap { seeds[$0] } ?? seed))
    if let kind, !maker.apply(kind) { return nil }
    return try DamageTrial.run(maker, in: folder.path)
  }
}

struct DamageTrial {
  /// Salvages the damaged file, and compares the new store with the sound file.
  static func run(_ maker: DamageMaker, in folder: String) throws -> DamageOutcome {
    let (path, out) = (folder + "/damaged.lodestore", folder + "/out.lodestore")
    for name in [path, out, out + "-lock"] { try? FileManager.default.removeItem(atPath: name) }
    try Data(maker.bytes).write(to: URL(fileURLWithPath: path))
    var outcome = DamageOutcome()
    let report: RepairReport
    do {
      report = try StoreRepair.salvage(path, into: out)
    } catch {
      outcome.refused = "\(error)"
      for pair in maker.sound.pairs.keys where pair.tree.hasPrefix("records.") {
        if maker.sound.isIntact(pair, in: maker.bytes, maker.replaced) { outcome.intact += 1 }
      }
      return outcome
    }
    outcome.isWhole = report.isWhole
    let saved = try SoundFile(
      path: out, bytes: Array(try Data(contentsOf: URL(fileURLWithPath: out))))
    compare(maker, saved, &outcome)
    if report.isWhole { outcome.falseWhole = differences(maker.sound, saved) }
    return outcome
  }

  private static func compare(
    _ maker: DamageMaker, _ saved: SoundFile, _ outcome: inout DamageOutcome
  ) {
    let sound = maker.sound
    for (pair, place) in sound.pairs {
      let isIntact = sound.isIntact(pair, in: maker.bytes, maker.replaced)
      if pair.tree.hasPrefix("records.") {
        guard isIntact else { continue }
        outcome.intact += 1
        guard let other = saved.pairs[pair] else {
          outcome.lost.append("\(pair.tree) \(pair.key[0])")
          continue
        }
        outcome.saved += 1
        // A record's id attribute may have become null if it led to a lost record.
        if other.body != place.body, !isEmptied(place.body, other.body, pair.tree) {
          outcome.replaced.append("\(pair.tree) \(pair.key[0])")
        }
      } else if pair.tree.hasPrefix("links."), pair.tree.hasSuffix(".1") {
        var reverse = pair
        let (id, other) = ids(pair.key)
        reverse.tree = String(pair.tree.dropLast()) + "2"
        var key = KeyEncoder()
        key.append(other)
        key.append(recordID: id)
        reverse.key = Array(key.bytes)
        guard isIntact || sound.isIntact(reverse, in: maker.bytes, maker.replaced),
          areThere(pair.tree, id, other, saved)
        else { continue }
        outcome.intactLinks += 1
        if saved.pairs[pair] != nil {
          outcome.savedLinks += 1
        } else {
          outcome.lost.append("\(pair.tree) \(id)-\(other)")
        }
      }
    }
    let expected = orders(sound) { owner, other in
      let link = SoundFile.Pair(tree: "order.1.1", key: LinkOrderKey.link(owner, other))
      guard let place = sound.pairs[link] else { return false }
      let position = place.body._withBytes { $0.uint64(at: 0) }
      let second = SoundFile.Pair(tree: "order.1.1", key: LinkOrderKey.position(owner, position))
      return [link, second].contains { sound.isIntact($0, in: maker.bytes, maker.replaced) }
        && saved.pairs[link] != nil
    }
    let actual = orders(saved) { _, _ in true }
    for (owner, others) in expected {
      let mine = (actual[owner] ?? []).filter(others.contains)
      outcome.intactPositions += others.count
      if mine == others { outcome.savedPositions += others.count }
    }
  }

  private static func orders(
    _ file: SoundFile, _ isWanted: (UInt64, UInt64) -> Bool
  ) -> [UInt64: [UInt64]] {
    var orders: [UInt64: [(UInt64, UInt64)]] = [:]
    for (pair, place) in file.pairs where pair.tree.hasPrefix("order.") && pair.key[8] == 0 {
      let (owner, other) = pair.key._withBytes {
        ($0.bigEndianUInt64(at: 0), $0.bigEndianUInt64(at: 9))
      }
      guard isWanted(owner, other) else { continue }
      orders[owner, default: []].append((place.body._withBytes { $0.uint64(at: 0) }, other))
    }
    return orders.mapValues { $0.sorted { $0.0 < $1.0 }.map(\.1) }
  }

  private static func ids(_ key: [UInt8]) -> (UInt64, UInt64) {
    key._withBytes { (KeyDecoder.leadingID($0) ?? 0, KeyDecoder.recordIDSuffix($0) ?? 0) }
  }

  private static func areThere(_ tree: String, _ id: UInt64, _ other: UInt64, _ saved: SoundFile)
    -> Bool
  {
    let sides =
      tree.hasPrefix("links.\(ownerBadges).")
      ? ("records.1", "records.2") : ("records.3", "records.4")
    return saved.pairs[.init(tree: sides.0, key: littleEndianBytes(id))] != nil
      && saved.pairs[.init(tree: sides.1, key: littleEndianBytes(other))] != nil
  }
  static let ownerBadges = 1

  /// Whether a record of a cat or a dog has lost its owner and nothing else.
  private static func isEmptied(_ old: [UInt8], _ new: [UInt8], _ tree: String) -> Bool {
    guard ["records.3", "records.4"].contains(tree), old.count == new.count, new[2] & 1 == 1 else {
      return false
    }
    // The bytes 3 to 11 are the weight, and 11 to 19 the owner. The last four bytes are the
    // checksum.
    return old[3..<11].elementsEqual(new[3..<11])
      && old[19..<(old.count - 4)].elementsEqual(new[19..<(new.count - 4)])
  }

  /// The differences of a saved store from the sound file.
  private static func differences(_ sound: SoundFile, _ saved: SoundFile) -> [String] {
    var result: [String] = []
    for tree in Set(sound.trees.keys).union(saved.trees.keys) {
      let isCompared =
        ["records.", "links.", "index.", "place.", "vector."].contains { tree.hasPrefix($0) }
        || ["buckets", "imports", "history", "digests", "catalogue"].contains(tree)
      guard isCompared else { continue }
      for pair in Set(sound.keys(of: tree)).union(saved.keys(of: tree)) {
        if sound.pairs[pair]?.body != saved.pairs[pair]?.body {
          result.append(
            "\(tree) \(pair.key.prefix(12)) \(sound.pairs[pair]?.body.count ?? -1) \(saved.pairs[pair]?.body.count ?? -1)"
          )
        }
      }
    }
    for field in [HeaderField.uuid, .created] {
      let pair = SoundFile.Pair(tree: "lodestore", key: field.key)
      if sound.pairs[pair]?.body != saved.pairs[pair]?.body { result.append("header \(field)") }
    }
    if orders(sound, { _, _ in true }) != orders(saved, { _, _ in true }) { result.append("order") }
    return result
  }
}
