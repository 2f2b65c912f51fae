import Dispatch
import KVDumpCommands

/// The program `kvdump`; everything is in the module of its commands.
@main
struct Main {
  /// Not asynchronous itself: what runs tasks opens files of its own, and those must not become
  /// standard streams.
  static func main() {
    holdStandardStreams()
    requireDescriptors()
    Task { await runKVDump() }
    dispatchMain()
  }
}
