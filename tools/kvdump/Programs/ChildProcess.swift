import LodestoreSystem

/// A process that the tool starts and waits for.
///
/// Control-C belongs to the process: the caller ignores SIGINT, which the process handles again.
enum ChildProcess {
  /// This program.
  ///
  /// The system's name of the running file is valid even after an update of the program.
  static var thisProgram: String {
    #if canImport(Darwin)
      SiblingProgram.folderOfThisProgram.map { "\($0)/kvdump" } ?? CommandLine.arguments[0]
    #else
      access("/proc/self/exe", X_OK) == 0 ? "/proc/self/exe" : CommandLine.arguments[0]
    #endif
  }

  /// Runs a program to its end.
  ///
  /// - Parameters:
  ///   - arguments: the words of the command line, the program's name first.
  ///   - input: the descriptor of its standard input; `nil` for that of this process.
  /// - Returns: The exit status, or 128 and the number of the signal that ended the process; `nil`
  ///   if the process could not be started.
  static func run(_ program: String, _ arguments: [String], input: Int32? = nil) -> Int32? {
    guard let child = start(program, arguments, input) else { return nil }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 {
      guard errno == EINTR else { return 0 }
    }
    let signal = status & 0x7F
    return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
  }

  private static func start(_ program: String, _ arguments: [String], _ input: Int32?) -> pid_t? {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
    #else
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let input { posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO) }
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // An ignored signal stays ignored across exec, so the process gets the default handling back.
    var restored = sigset_t()
    sigemptyset(&restored)
    sigaddset(&restored, SIGINT)
    sigaddset(&restored, SIGPIPE)
    posix_spawnattr_setsigdefault(&attributes, &restored)
    // The threads of tasks block most signals.
    var blocked = sigset_t()
    sigemptyset(&blocked)
    posix_spawnattr_setsigmask(&attributes, &blocked)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    var words = arguments.map { strdup($0) }
    words.append(nil)
    defer { for word in words { free(word) } }
    var child: pid_t = 0
    return posix_spawn(&child, program, &actions, &attributes, words, environ) == 0 ? child : nil
  }
}
