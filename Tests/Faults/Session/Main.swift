import Foundation

/// The program that tests of failing calls and power cuts start as a separate process, with the
/// shim preloaded.
///
///     fault-session calls FOLDER
///     fault-session record FOLDER LOG SEED LENGTH full|lazy [KIND NUMBER ERRNO]
///     fault-session images FOLDER LOG SEED FIRST COUNT full|lazy
@main
struct Main {
  static func main() async {
    let words = Array(CommandLine.arguments.dropFirst())
    switch words.first {
    case "calls" where words.count == 2:
      guard let shim = Shim() else { stop("the shim is not preloaded") }
      await FaultServer(folder: words[1], shim: shim).serve()
    case "record" where words.count >= 6:
      guard let shim = Shim(), let seed = UInt64(words[3]), let length = Int(words[4]) else {
        stop("the shim is not preloaded")
      }
      let recorder = Recorder(folder: words[1], log: words[2], shim: shim)
      let fault = Fault(words[6...].map { Substring($0) } + ["0"])
      await recorder.run(Script(seed: seed, length: length), isLazy: words[5] == "lazy", fault)
    case "images" where words.count == 7:
      guard let seed = UInt64(words[3]), let first = Int(words[4]), let count = Int(words[5]) else {
        stop("no numbers")
      }
      let images = CrashImages(folder: words[1], seed: seed, isLazy: words[6] == "lazy")
      images.check(log: words[2], first..<(first + count))
    default: stop("calls, record or images")
    }
  }

  static func stop(_ reason: String) -> Never {
    print("bad 0 0 \(reason)")
    exit(2)
  }
}
