import Synchronization

/// A search that is repeated after each typed key.
///
///     guard let keyboard = Keyboard.standardInput() else { return try await searchLines() }
///     defer { keyboard.end() }
///     await TypedSearch("Search: ", on: terminal).run(keyboard.keys) { text in
///       try await store.fetch(Item.search(text).limit(10)).map(\.name)
///     }
///
/// Each change of the text starts a search at once and cancels the previous one, whose results are
/// not shown. So the search should end soon after its task is cancelled, as the fetches of a store
/// do.
///
/// Return, the escape key and Ctrl-D end the search; the last results stay on the screen.
public final class TypedSearch: Sendable {
  private struct State {
    var text = ""
    var results: [String] = []
    /// The number of searches begun.
    ///
    /// Only the results of the last search are shown.
    var count = 0
  }

  private let prompt: String
  private let terminal: Terminal
  private let list: LiveList
  private let state = Mutex(State())

  /// Makes a search with an empty text.
  public init(_ prompt: String, on terminal: Terminal) {
    self.prompt = prompt
    self.terminal = terminal
    list = LiveList(on: terminal)
  }

  /// Searches after each change of the typed text, until the keys end.
  ///
  /// - Parameter search: A closure that returns the lines to show for a text. Its error is shown as
  ///   a line.
  /// - Returns: The last text.
  @discardableResult
  public func run<Keys: AsyncSequence<Key, Never>>(
    _ keys: Keys, _ search: @escaping @Sendable (_ text: String) async throws -> [String]
  ) async -> String {
    var running = begin(search)
    var iterator = keys.makeAsyncIterator()
    while let key = await iterator.next(isolation: #isolation), !key.endsSearch {
      let isChanged = state.withLock { state in
        let old = state.text
        state.text.apply(key)
        return state.text != old
      }
      guard isChanged else { continue }
      running.cancel()
      running = begin(search)
    }
    await running.value
    list.finish()
    return state.withLock { $0.text }
  }

  /// Starts a search for the text.
  ///
  /// Until it ends, the screen shows the text with the previous results.
  private func begin(
    _ search: @escaping @Sendable (String) async throws -> [String]
  ) -> Task<Void, Never> {
    let (text, number) = state.withLock { state in
      state.count += 1
      show(state)
      return (state.text, state.count)
    }
    return Task {
      do {
        let results = try await search(text)
        show(results, of: number)
      } catch is CancellationError {
      } catch {
        show([terminal.styled("\(error)", .red)], of: number)
      }
    }
  }

  private func show(_ results: [String], of number: Int) {
    state.withLock { state in
      guard number == state.count else { return }
      state.results = results
      show(state)
    }
  }

  private func show(_ state: borrowing State) {
    list.show(
      [terminal.styled(prompt, .dim) + state.text + terminal.styled("▏", .dim)] + state.results)
  }
}

extension Key {
  fileprivate var endsSearch: Bool { self == .enter || self == .escape || self == .end }
}

extension String {
  /// Applies a key to a text with the cursor at its end.
  fileprivate mutating func apply(_ key: Key) {
    switch key {
    case .character(let character): append(character)
    case .backspace: _ = popLast()
    case .deleteWord:
      while last?.isWhitespace == true { removeLast() }
      while let last, !last.isWhitespace { removeLast() }
    case .deleteLine: removeAll()
    case .enter, .escape, .end: break
    }
  }
}
