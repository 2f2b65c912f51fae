import Dispatch
import KVDumpCommands

/// The program `kvdump`.
///
/// All code is in the module of its commands.
@main
struct Main {
  /// The method is not asynchronous, because the task runtime opens files, and those must not
  /// become standard streams.
  static func main() {
    holdStandardStreams()
    requireDescriptors()
    Task { await runKVDump() }
    dispatchMain()
  }
}
