import Terminal
import Testing

@Suite struct LiveListTests {
  @Test(arguments: [
    ["a", "b", "c"], ["a", "x", "c"], ["a"], ["x", "a", "b", "c", "d"], [], ["c", "b", "a"],
  ]) func `a live list shows the newest lines on the screen`(lines: [String]) {
    let written = Written()
    let list = LiveList(on: written.terminal(isInteractive: true))
    list.show(["a", "b", "c"])
    list.show(lines)
    list.show(["q", "b"])
    list.show(lines)
    #expect(written.screen.filter { !$0.isEmpty } == lines)
  }

  @Test func `a live list does not draw unchanged lines again`() {
    let written = Written()
    let list = LiveList(on: written.terminal(isInteractive: true))
    list.show(["first", "second"])
    list.show(["first", "changed"])
    #expect(written.text.components("first") == 1)
    list.show(["first", "changed"])
    #expect(written.text.components("changed") == 1)
  }

  @Test func `a live list counts the lines that do not fit`() {
    let written = Written()
    let list = LiveList(on: written.terminal(isInteractive: true, width: 4, height: 5))
    list.show(["abcdef", "2", "3", "4"])
    #expect(written.screen == ["abc…", "2", "… 2 more", ""])
  }

  @Test func `a live list in a pipe prints the inserted and the deleted lines`() {
    let written = Written()
    let list = LiveList(on: written.terminal(isInteractive: false))
    list.show(["a", "b"])
    list.show(["b", "c"])
    #expect(written.text == "a\nb\n- a\n+ c\n")
  }

  @Test func `the next live list begins below the last one`() {
    let written = Written()
    let list = LiveList(on: written.terminal(isInteractive: true))
    list.show(["a"])
    list.finish()
    list.show(["b"])
    #expect(written.screen == ["a", "b", ""])
  }
}

extension String {
  /// Returns how often `part` is in the text.
  fileprivate func components(_ part: String) -> Int { ranges(of: part).count }
}
