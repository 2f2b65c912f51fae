/// Names for files that are made beside their place and renamed into it.
enum TemporaryName {
  /// A name in the directory of `path` that no other process and no other call uses.
  static func make(for path: String) -> String {
    let random = UInt64.random(in: .min ... .max)
    return "\(path).new-\(SystemCalls.processID)-\(String(random, radix: 16))"
  }
}
