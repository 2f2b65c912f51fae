import LodestoreSystem

/// The user's browser.
enum Browser {
  /// Opens an address by the system's program for it, without waiting.
  ///
  /// A failure changes nothing, because the address is printed too.
  static func open(_ address: String) {
    #if canImport(Darwin)
      let command: [String] = ["open", address]
    #else
      let command: [String] = ["xdg-open", address]
    #endif
    var words = command.map { strdup($0) }
    words.append(nil)
    defer { for word in words { free(word) } }
    var child = pid_t()
    posix_spawnp(&child, command[0], nil, nil, words, environ)
  }
}
