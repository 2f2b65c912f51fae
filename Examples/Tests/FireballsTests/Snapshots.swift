import Foundation

/// The two snapshots of the service's data: the real ones if they are present, otherwise the
/// samples.
enum Snapshots {
  static let repository = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().appendingPathComponent("../../..").standardizedFileURL

  static let old = path("fireball-2024-02.json", "fireballs-2024.json")
  static let new = path("fireball-2026-05.json", "fireballs-2026.json")
  static let isReal = old.contains("shared/data")

  private static func path(_ real: String, _ sample: String) -> String {
    let data = repository.appendingPathComponent("../shared/data/fireball/\(real)")
    return FileManager.default.fileExists(atPath: data.standardizedFileURL.path)
      ? data.standardizedFileURL.path
      : repository.appendingPathComponent("Samples/\(sample)").path
  }
}
