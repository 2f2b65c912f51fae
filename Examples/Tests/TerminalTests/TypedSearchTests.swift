import Terminal
import Testing

@Suite struct `A search while typing` {
  private let written = Written()
  private let pressed = AsyncStream<Key>.makeStream()

  private func press(_ keys: Key...) { for key in keys { pressed.continuation.yield(key) } }

  private var search: TypedSearch { TypedSearch("? ", on: written.terminal(isInteractive: true)) }

  @Test func `a search while typing shows the results for the typed text`() async {
    press(.character("a"), .character("b"), .enter)
    #expect(await search.run(pressed.stream) { ["1 \($0)", "2 \($0)"] } == "ab")
    #expect(written.screen == ["? ab▏", "1 ab", "2 ab", ""])
  }

  @Test func `a search while typing removes deleted text`() async {
    press(.character("a"), .character(" "), .character("b"), .character("c"), .backspace)
    press(.deleteWord, .character("d"), .escape)
    #expect(await search.run(pressed.stream) { [$0] } == "a d")
    press(.character("a"), .deleteLine, .backspace, .end)
    #expect(await search.run(pressed.stream) { [$0] } == "")
  }

  @Test func `a search while typing begins with all records, and ends when the keys do`() async {
    pressed.continuation.finish()
    #expect(await search.run(pressed.stream) { ["all\($0)"] } == "")
    #expect(written.screen == ["? ▏", "all", ""])
  }

  @Test func `an overtaken search is cancelled, and its results are not shown`() async {
    let begun = AsyncStream<String>.makeStream()
    let cancelled = AsyncStream<String>.makeStream()
    let (search, keys) = (search, pressed.stream)
    let run = Task {
      await search.run(keys) { text in
        begun.continuation.yield(text)
        guard text == "a" else { return ["found \(text)"] }
        // The search ends only when it is cancelled. After that it still returns a result, which
        // must not be shown.
        try? await Task.sleep(for: .seconds(600))
        cancelled.continuation.yield(text)
        return ["found too late"]
      }
    }
    var texts = begun.stream.makeAsyncIterator()
    #expect(await texts.next() == "")
    press(.character("a"))
    #expect(await texts.next() == "a")
    press(.character("b"))
    #expect(await texts.next() == "ab")
    var overtaken = cancelled.stream.makeAsyncIterator()
    #expect(await overtaken.next() == "a")
    press(.enter)
    #expect(await run.value == "ab")
    #expect(written.screen == ["? ab▏", "found ab", ""])
    #expect(!written.text.contains("too late"))
  }

  @Test func `a search while typing shows an error, and continues`() async {
    struct Failure: Error {}
    press(.character("a"), .enter)
    _ = await search.run(pressed.stream) { _ in throw Failure() }
    #expect(written.screen == ["? a▏", "Failure()", ""])
  }
}
