internal import LodestoreBytes

/// Finds where bytes stop being UTF-8.
enum UTF8Check {
  /// The first byte that is not part of a scalar.
  static func firstInvalid(_ bytes: ByteView) -> Int? {
    var parser = Unicode.UTF8.ForwardParser()
    var iterator = bytes.makeIterator()
    var offset = 0
    while true {
      switch parser.parseScalar(from: &iterator) {
      case .valid(let scalar): offset += scalar.count
      case .emptyInput: return nil
      case .error: return offset
      }
    }
  }
}
