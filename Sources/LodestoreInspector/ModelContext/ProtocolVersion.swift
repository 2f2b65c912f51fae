/// A version of the Model Context Protocol that the server implements.
///
/// 2025-03-26 is left out, because it requires batches of messages. A client of that version is
/// offered the one before it.
enum ProtocolVersion: String, CaseIterable, Sendable {
  case v2024_11_05 = "2024-11-05"
  case v2025_06_18 = "2025-06-18"
  case v2025_11_25 = "2025-11-25"
  /// The first version without a handshake: each request names its version.
  case v2026_07_28 = "2026-07-28"

  var hasHandshake: Bool { self != .v2026_07_28 }

  /// The version that answers `initialize` with the version `requested`.
  ///
  /// If the server lacks that version, the newest one before it is most likely to suit the client.
  static func negotiated(_ requested: String) -> ProtocolVersion {
    let candidates = allCases.filter(\.hasHandshake)
    return candidates.last { $0.rawValue <= requested } ?? .v2025_11_25
  }
}
