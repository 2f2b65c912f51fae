import EntityStore
import Foundation

/// Simulates power cuts at positions of a log, and opens each image of the disk.
///
/// An image follows from the seed and its number alone. The number is printed before the image is
/// opened, so that the parent knows which image ended the process.
struct CrashImages {
  let folder: String
  let seed: UInt64
  let isLazy: Bool

  private struct Cut {
    var number: Int
    var position: Int
    var random: SessionRandom
  }

  func check(log path: String, _ numbers: Range<Int>) {
    guard let log = try? WriteLog(path: path), !log.operations.isEmpty, let first = log.marks.first
    else { Main.stop("no log") }
    let cuts = numbers.map { number in
      var random = SessionRandom(seed, UInt64(number) + 1)
      // One image in ten is a power cut during the creation of the store, which is a short part of
      // the log.
      let end = number % 10 == 0 ? first.position : log.operations.count
      return Cut(number: number, position: Int.random(in: 1...end, using: &random), random: random)
    }
    var disk = Disk(log)
    var badCount = 0
    var absentCount = 0
    for var cut in cuts.sorted(by: { $0.position < $1.position }) {
      disk.advance(to: cut.position)
      let loss = Disk.Loss.allCases[cut.number % Disk.Loss.allCases.count]
      print("image \(cut.number)")
      fflush(nil)
      let image = disk.image(loss, &cut.random)
      if image[Session.storeName] == nil { absentCount += 1 }
      guard let problem = problem(image, log, cut.position, &cut.random) else { continue }
      badCount += 1
      print("bad image \(cut.number), \(loss), cut at \(cut.position): \(problem)")
    }
    print("done \(cuts.count) \(badCount) \(absentCount)")
  }

  // MARK: One image

  private func problem(
    _ image: [String: [UInt8]], _ log: WriteLog, _ position: Int, _ random: inout SessionRandom
  ) -> String? {
    write(image, &random)
    let marks = log.marks.filter { $0.position < position }
    let copies = log.marks.filter { !$0.copy.isEmpty }
    for copy in copies {
      guard image[copy.copy] != nil else {
        if copy.position < position { return "\(copy.copy) is lost" }
        continue
      }
      if let problem = opened(
        copy.copy, { _, digest in digest == copy.digest ? nil : "other records" })
      {
        return problem
      }
    }
    guard image[Session.storeName] != nil else {
      return marks.isEmpty ? nil : "the store is lost"
    }
    let last = marks.last?.commit ?? 0
    return opened(Session.storeName) { commit, digest in
      guard commit >= (isLazy ? last - 1 : last) else {
        return "commit \(last) is lost, \(commit) is there"
      }
      return isPossible(digest, commit, log, position) ? nil : "commit \(commit) has other records"
    }
  }

  /// A step may make several commits, and only the last one has its records.
  ///
  /// A failed step may have made some of them.
  private func isPossible(_ digest: UInt64, _ commit: Int, _ log: WriteLog, _ position: Int) -> Bool
  {
    let before = log.marks.last { $0.commit < commit }
    guard let after = log.marks.first(where: { $0.commit >= commit }) else { return false }
    if digest == after.digest { return true }
    if commit == after.commit, after.position < position { return false }
    if commit != after.commit, digest == before?.digest ?? Contents().digest { return true }
    let failed = log.failures.filter {
      $0.position > before?.position ?? 0 && $0.position < after.position
    }
    return failed.contains { $0.digest == digest }
  }

  /// Opens a store as any program does, reads it, writes to it, and verifies it.
  private func opened(_ name: String, _ judge: (_ commit: Int, _ digest: UInt64) -> String?)
    -> String?
  {
    let path = "\(folder)/\(name)"
    do {
      let plain = try Store(at: path, entities: [])
      defer { plain.close() }
      let commit = try Int(plain.read { $0.commitNumber }.description) ?? 0
      let store = try Store(at: path, entities: [ItemV2.self])
      defer { store.close() }
      if let problem = judge(commit, try Contents(store).digest) { return "\(name): \(problem)" }
      try store.upsert(ItemV2(Row(key: 0, name: "after", note: "", group: 0, rank: 1)))
    } catch {
      return "\(name) cannot be used: \(String(reflecting: error))"
    }
    return Audit(folder: folder).verified(name)
  }

  /// Writes the files of an image into the folder.
  ///
  /// The lock file may be gone, as after a copy of the file, or be as the cut left it. The lock
  /// file may also begin with zeros, as a file whose first bytes never reached the disk, and hold
  /// anything after them.
  private func write(_ image: [String: [UInt8]], _ random: inout SessionRandom) {
    try? FileManager.default.removeItem(atPath: folder)
    try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let choice = Int.random(in: 0..<3, using: &random)
    var image = image
    for name in image.keys.sorted() where name.hasSuffix("-lock") && choice != 0 {
      image[name] = nil
    }
    if choice == 2 {
      let size = [0, 1, 64, 4_096, 8_192, 66_000].randomElement(using: &random) ?? 0
      let byte: UInt8? = Bool.random(using: &random) ? 0 : nil
      image[Session.storeName + "-lock"] = (0..<size).map { position in
        position < 64 ? 0 : byte ?? UInt8.random(in: 0...255, using: &random)
      }
    }
    for (name, bytes) in image {
      _ = FileManager.default.createFile(atPath: "\(folder)/\(name)", contents: Data(bytes))
    }
  }
}
