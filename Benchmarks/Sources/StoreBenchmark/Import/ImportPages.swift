import BenchmarkFigures
import Foundation

/// The pods as JSON pages for an import: one page of 100 pods on each line.
struct ImportPages {
  let path: String

  init(of pods: [Pod], in directory: String) throws {
    path = directory + "/pages.jsonl"
    guard !FileManager.default.fileExists(atPath: path) else { return }
    guard FileManager.default.createFile(atPath: path, contents: nil) else {
      throw BenchmarkError("cannot make \(path)")
    }
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    for start in stride(from: 0, to: pods.count, by: 100) {
      let page = pods[start..<min(start + 100, pods.count)].map(Self.text)
      try file.write(contentsOf: Data("{\"result\":[\(page.joined(separator: ","))]}\n".utf8))
    }
    try file.close()
  }

  // No character of the generated texts needs an escape in JSON.
  private static func text(_ pod: Pod) -> String {
    let homepage = pod.homepage.map { "\"homepage\":\"\($0)\"," } ?? ""
    return "{\"name\":\"\(pod.name)\",\"version\":\"\(pod.version)\",\(homepage)"
      + "\"license\":\"\(pod.license)\",\"summary\":\"\(pod.summary)\","
      + "\"downloads\":\(pod.downloads),\"updatedAt\":\"\(date(pod.updatedAt))\","
      + "\"deprecated\":\(pod.deprecated)}"
  }

  /// The date as ISO 8601 with milliseconds.
  ///
  /// A formatter would take longer than the rest of the work.
  private static func date(_ date: Date) -> String {
    let halves = Int(date.timeIntervalSinceReferenceDate * 2)
    let seconds = halves / 2
    var time = time_t(seconds + 978_307_200)
    var parts = tm()
    gmtime_r(&time, &parts)
    func two(_ number: some BinaryInteger) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
      + "T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
      + (halves % 2 == 0 ? ".000Z" : ".500Z")
  }
}
