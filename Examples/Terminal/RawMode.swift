import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The mode of a terminal in which a program receives each key immediately, and the terminal does
/// not show it.
///
/// The terminal's state is restored after ``end()``, and when the process exits, crashes or ends by
/// a signal. Only SIGKILL leaves it raw; the command `stty sane` restores it. Ctrl-C interrupts as
/// usual; Ctrl-Z does nothing in this mode.
///
/// A process can use one terminal at a time.
enum RawMode {
  private static let isOn = Atomic(false)

  /// Begins the mode.
  ///
  /// Returns `false` if `descriptor` is not a terminal, or a terminal is already in the mode.
  static func begin(on descriptor: Int32) -> Bool {
    guard isatty(descriptor) == 1, !isOn.load(ordering: .acquiring) else { return false }
    var mode = termios()
    guard tcgetattr(descriptor, &mode) == 0 else { return false }
    before.initialize(to: Before(descriptor: descriptor, mode: mode))
    // Turn off line input and echo. Ctrl-S and Ctrl-Q become normal keys, and return stays a
    // carriage return.
    mode.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN)
    mode.c_iflag &= ~tcflag_t(IXON | ICRNL)
    withUnsafeMutableBytes(of: &mode.c_cc) { characters in
      characters[Int(VMIN)] = 1
      characters[Int(VTIME)] = 0
      characters[Int(VSUSP)] = 0
    }
    guard tcsetattr(descriptor, TCSADRAIN, &mode) == 0 else { return false }
    isOn.store(true, ordering: .releasing)
    _ = preparation
    return true
  }

  /// Ends the mode.
  ///
  /// Any thread and any signal handler may call it.
  static func end() {
    guard isOn.exchange(false, ordering: .acquiringAndReleasing) else { return }
    _ = tcsetattr(before.pointee.descriptor, TCSANOW, &before.pointee.mode)
  }

  /// Installs, once per process, the handlers that end the mode when the process exits or a signal
  /// ends it.
  private static let preparation: Void = {
    atexit { RawMode.end() }
    for number in endings {
      sigaction(number, nil, &actions[Int(number)])
      // The parent process ignored the signal, as `nohup` does, so the signal stays ignored.
      guard !isIgnored(actions[Int(number)]) else { continue }
      var action = handling { number in
        RawMode.end()
        // Restores the previous handling and raises the signal again, which is delivered after this
        // handler returns.
        sigaction(number, &actions[Int(number)], nil)
        raise(number)
      }
      sigaction(number, &action, nil)
    }
  }()
}

/// The state of a terminal before the mode began.
private struct Before {
  var descriptor: Int32
  var mode: termios
}

/// Signals that end a process.
private let endings = [
  SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP, SIGPIPE,
]

// Signal handlers read these values, so they are plain memory. The values are written before the
// handlers are installed.
private nonisolated(unsafe) let before = UnsafeMutablePointer<Before>.allocate(capacity: 1)
private nonisolated(unsafe) let actions = {
  let actions = UnsafeMutablePointer<sigaction>.allocate(capacity: 64)
  actions.initialize(repeating: sigaction(), count: 64)
  return actions
}()

private func handling(_ handler: @escaping @convention(c) (Int32) -> Void) -> sigaction {
  var action = sigaction()
  #if canImport(Darwin)
    action.__sigaction_u.__sa_handler = handler
  #elseif canImport(Musl)
    action.__sa_handler.sa_handler = handler
  #else
    action.__sigaction_handler.sa_handler = handler
  #endif
  return action
}

private func isIgnored(_ action: sigaction) -> Bool {
  #if canImport(Darwin)
    let handler = action.__sigaction_u.__sa_handler
  #elseif canImport(Musl)
    let handler = action.__sa_handler.sa_handler
  #else
    let handler = action.__sigaction_handler.sa_handler
  #endif
  return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
}
