import Synchronization
import Terminal
import Testing

@Suite struct ProgressLineTests {
  @Test func `progress has a rate and the time left`() {
    let written = Written()
    let progress = ProgressLine(
      "fetch", unit: "items", on: written.terminal(isInteractive: true), elapsed: { .seconds(2) })
    progress.show(500_000, of: 2_000_000)
    #expect(
      written.screen == ["fetch  ██████░░░░░░░░░░░░░░░░░░ 25 %  250,000 items/s  6.0 s left"])
  }

  @Test func `progress with an unknown total omits the total`() {
    let written = Written()
    let progress = ProgressLine(
      "import", on: written.terminal(isInteractive: true), elapsed: { .seconds(1) })
    progress.show(1_000, of: nil)
    #expect(written.screen == ["import  1,000  1,000 records/s"])
  }

  @Test func `progress on a terminal is drawn ten times a second`() {
    let written = Written()
    let milliseconds = Mutex(0)
    let progress = ProgressLine(
      "fetch", on: written.terminal(isInteractive: true),
      elapsed: { .milliseconds(milliseconds.withLock { $0 }) })
    for step in 0..<1_000 {
      milliseconds.withLock { $0 = step }
      progress.show(step, of: 1_000)
    }
    #expect(written.text.filter { $0 == "\r" }.count == 10)
  }

  @Test func `the last line of progress stays`() {
    let written = Written()
    let progress = ProgressLine(
      "fetch", unit: "items", on: written.terminal(isInteractive: true), elapsed: { .seconds(2) })
    progress.show(500_000, of: 1_000_000)
    progress.show(1_000_000, of: 1_000_000)
    progress.finish()
    progress.show(1, of: 2)
    #expect(written.screen == ["fetch  1,000,000 items in 2.0 s, 500,000 a second", ""])
  }

  @Test func `progress in a pipe is one line`() {
    let written = Written()
    let progress = ProgressLine(
      "fetch", on: written.terminal(isInteractive: false), elapsed: { .seconds(2) })
    progress.show(10, of: 100)
    progress.show(20, of: 100)
    progress.finish("cancelled")
    #expect(written.text == "fetch  20 records in 2.0 s, cancelled\n")
  }
}
