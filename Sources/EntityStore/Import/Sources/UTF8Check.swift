internal import LodestoreBytes

/// Detection of bytes that are not UTF-8.
enum UTF8Check {
  /// The offset of the first byte that is not part of a scalar; nil when all bytes are UTF-8.
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
