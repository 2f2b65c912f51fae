import Foundation

/// The functions of the preloaded shim; `nil` without a shim.
struct Shim: Sendable {
  private typealias Arm =
    @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, Int, Int32, Int32) -> Void
  private typealias Record =
    @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Void
  private typealias Mark = @convention(c) (UInt64, UnsafeRawPointer?, Int) -> Void
  private typealias Plain = @convention(c) () -> Void
  private typealias Count = @convention(c) () -> Int

  private let armFunction: Arm
  private let recordFunction: Record
  private let markFunction: Mark
  private let disarmFunction: Plain
  private let stopFunction: Plain
  private let countFunction: Count
  private let hitsFunction: Count

  init?() {
    guard let arm = Self.find("faults_arm", Arm.self),
      let record = Self.find("faults_record", Record.self),
      let mark = Self.find("faults_mark", Mark.self),
      let disarm = Self.find("faults_disarm", Plain.self),
      let stop = Self.find("faults_stop", Plain.self),
      let count = Self.find("faults_count", Count.self),
      let hits = Self.find("faults_hits", Count.self)
    else { return nil }
    armFunction = arm
    recordFunction = record
    markFunction = mark
    disarmFunction = disarm
    stopFunction = stop
    countFunction = count
    hitsFunction = hits
  }

  private static func find<F>(_ name: String, _: F.Type) -> F? {
    #if os(Linux)
      let program: UnsafeMutableRawPointer? = nil
    #else
      let program = UnsafeMutableRawPointer(bitPattern: -2)
    #endif
    return dlsym(program, name).map { unsafeBitCast($0, to: F.self) }
  }

  /// Makes the call of that number fail from now on; a number of 0 only counts.
  func arm(_ fault: Fault, in folder: String) {
    armFunction(folder, fault.kind, fault.number, fault.error, fault.isForGood ? 1 : 0)
  }

  func disarm() { disarmFunction() }
  /// The number of calls of the armed kind, and the number of those calls that failed.
  var count: Int { countFunction() }
  var hits: Int { hitsFunction() }

  /// Records all changes to the files of `folder` in `log` from now on.
  func record(_ folder: String, to log: String) { recordFunction(folder, log) }
  func mark(_ number: UInt64, _ bytes: [UInt8]) { markFunction(number, bytes, bytes.count) }
  func stop() { stopFunction() }
}

/// A call that fails: its kind, its number, its error, and whether later calls fail too.
struct Fault {
  var kind: String
  var number: Int
  var error: Int32
  var isForGood: Bool

  /// Reads a fault from the words "KIND NUMBER ERRNO GOOD".
  init?(_ words: [Substring]) {
    guard words.count == 4, let number = Int(words[1]), let error = Int32(words[2]) else {
      return nil
    }
    self.init(
      kind: String(words[0]), number: number, error: error, isForGood: words[3] == "1")
  }

  init(kind: String, number: Int, error: Int32, isForGood: Bool) {
    self.kind = kind
    self.number = number
    self.error = error
    self.isForGood = isForGood
  }
}
