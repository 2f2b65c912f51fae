import EntityStore
import Foundation
import LMDB
import LodestoreVerifier

/// Checks the files that a session or a power cut has left, without injected failures.
struct Audit {
  let folder: String

  /// Returns the first fault of a store; `nil` for a store without a fault.
  ///
  /// A store without a fault has one of the `possible` contents, accepts a further write, and keeps
  /// every rule of the format.
  func problem(_ name: String, possible: [Contents]) -> String? {
    let path = "\(folder)/\(name)"
    do {
      let store = try Store(at: path, entities: [ItemV2.self])
      defer { store.close() }
      let found = try Contents(store)
      guard possible.contains(found) else {
        return "\(name) has \(found.count) records, which are not those that were written: "
          + difference(found, possible)
      }
      try store.upsert(ItemV2(Row(key: 0, name: "after", note: "", group: 0, rank: 1)))
    } catch {
      return "\(name) cannot be used: \(String(reflecting: error))"
    }
    return verified(name)
  }

  func verified(_ name: String) -> String? {
    do {
      let report = try Verifier.verify(path: "\(folder)/\(name)")
      return report.isSound ? nil : "\(name): \(report.findings.prefix(3))"
    } catch {
      return "\(name) cannot be verified: \(error)"
    }
  }

  private func difference(_ found: Contents, _ possible: [Contents]) -> String {
    guard let nearest = possible.last else { return "none is possible" }
    let keys = Set(found.keys).union(nearest.keys).filter { found[$0] != nearest[$0] }.sorted()
    return "keys \(keys.prefix(5)) of \(nearest.count) differ"
  }

  var names: Set<String> {
    Set((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
  }

  /// Files of the folder that this process has open.
  var openFiles: [String] {
    let list = "/proc/self/fd"
    let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: list)) ?? []
    return descriptors.compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "\(list)/\($0)")
    }.filter { $0.hasPrefix(folder + "/") }.sorted()
  }
}
