import Foundation
import Lodestore

/// The source of a new store's records.
public struct PodSource: Sendable {
  /// The file: a page of records on each line, or one array of records.
  public let file: URL
  private let isPaged: Bool

  /// Returns the source in the first folder that has podspecs.
  ///
  /// The folders are: the value of the environment variable `LODESTORE_DATA`, `../shared/data` next
  /// to the project, the project's samples.
  public static func standard() -> PodSource {
    let named = ProcessInfo.processInfo.environment["LODESTORE_DATA"].map { URL(filePath: $0) }
    for folder in [named, project.appending(path: "../shared/data").standardizedFileURL] {
      let file = folder?.appending(path: "cocoapods/specs-trunk.jsonl")
      if let file, FileManager.default.fileExists(atPath: file.path) {
        return PodSource(file: file, isPaged: true)
      }
    }
    return samples
  }

  /// The project's samples, which are part of the repository.
  public static var samples: PodSource {
    PodSource(file: project.appending(path: "Samples/podspecs.json"), isPaged: false)
  }

  private static var project: URL {
    URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../../..")
      .standardizedFileURL
  }

  private struct Page: Decodable {
    var result: [PodRecord]
  }

  func records() throws -> [PodRecord] {
    let data = try Data(contentsOf: file)
    let decoder = JSONDecoder()
    guard isPaged else { return try decoder.decode([PodRecord].self, from: data) }
    return try data.split(separator: UInt8(ascii: "\n")).flatMap {
      try decoder.decode(Page.self, from: $0).result
    }
  }
}
