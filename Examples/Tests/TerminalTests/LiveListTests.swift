import Terminal
import Testing

@Suite struct LiveListTests {
  @Test(arguments: [
    ["a", "b", "c"], ["a", "x", "c"], ["a"], ["x", "a", "b", "c", "d"], [], ["c", "b", "a"],
  ]) func `the screen shows the newest lines`(lines: [String]) {
    let written = Written()
    let list = LiveList(on: written.terminal(isInteractive: true))
    list.show(["a", "b", "c"])
    list.show(lines)
    list.show(["q", "b"])
    list.show(lines)
    #expect(written.screen.filter { !$0.isEmpty } == lines)
  }

  @Test func `lines that stay are not drawn again`() {
    let written = Written()
    let list = LiveList(on: written.terminal(isInteractive: true))
    list.show(["first", "second"])
    list.show(["first", "changed"])
    #expect(written.text.components("first") == 1)
    list.show(["first", "changed"])
    #expect(written.text.components("changed") == 1)
  }

  @Test func `lines that do not fit are counted`() {
    let written = Written()
    let list = LiveList(on: written.terminal(isInteractive: true, width: 4, height: 5))
    list.show(["abcdef", "2", "3", "4"])
    #expect(written.screen == ["abc…", "2", "… 2 more", ""])
  }

  @Test func `a pipe gets the inserted and the deleted lines`() {
    let written = Written()
    let list = LiveList(on: written.terminal(isInteractive: false))
    list.show(["a", "b"])
    list.show(["b", "c"])
    #expect(written.text == "a\nb\n- a\n+ c\n")
  }

  @Test func `the next list begins below`() {
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
