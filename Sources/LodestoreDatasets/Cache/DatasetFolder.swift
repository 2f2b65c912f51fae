/// The folder of one cached dataset, and the names in it.
///
///     dataset.json             the state: which generation is current, dates, failures (``CacheState``)
///     trust.json               a copy of the state's facts about keys (``CacheTrust``), for a damaged state
///     refresh.lock             locked by the process that refreshes; empty
///     generations/42.lodestore sealed files, each complete and checked before it gets its name
///     incoming/…               a download that has not ended
///     service/…                the store that the importer of a service writes to
///
/// Only the holder of `refresh.lock` writes. Each file is written under another name, synced and
/// renamed, and `dataset.json` comes last: until its rename the old generation is current, from
/// then on the new one.
struct DatasetFolder: Sendable, Hashable {
  let path: String

  var state: String { path + "/dataset.json" }
  var trust: String { path + "/trust.json" }
  var refreshLock: String { path + "/refresh.lock" }
  var generations: String { path + "/generations" }
  var incoming: String { path + "/incoming" }
  var service: String { path + "/service" }

  static let suffix = ".lodestore"

  func generation(_ number: UInt64) -> String { "\(generations)/\(number)\(Self.suffix)" }

  /// The path of the file into which a generation is downloaded.
  func part(_ number: UInt64) -> String { "\(incoming)/\(number)\(Self.suffix)" }

  /// The path of the file into which a patch that produces a generation is downloaded.
  func patch(_ name: String, of number: UInt64) -> String { "\(incoming)/\(number).patch.\(name)" }

  /// The numbers of the existing generations in ascending order.
  var numbers: [UInt64] {
    SystemFile.names(in: generations).compactMap { name in
      guard name.hasSuffix(Self.suffix) else { return nil }
      let number = UInt64(name.dropLast(Self.suffix.count))
      return number.flatMap { "\($0)\(Self.suffix)" == name ? $0 : nil }
    }.sorted()
  }

  func make() throws(DatasetError) {
    try SystemFile.makeFolder(generations)
    try SystemFile.makeFolder(incoming)
  }

  /// Removes the files of unfinished downloads, except those of the generation `kept`.
  func removeIncoming(except kept: UInt64? = nil) { removeIncoming { $0 == nil || $0 != kept } }

  /// Removes the files of unfinished downloads of the generations up to `last`.
  func removeIncoming(upTo last: UInt64) { removeIncoming { $0.map { $0 <= last } ?? true } }

  /// - Parameter isUseless: Receives the number of the generation to which a file belongs; `nil` if
  ///   its name has none.
  private func removeIncoming(_ isUseless: (UInt64?) -> Bool) {
    for name in SystemFile.names(in: incoming)
    where isUseless(UInt64(name.prefix { $0 != "." })) {
      SystemFile.remove("\(incoming)/\(name)")
    }
  }
}
