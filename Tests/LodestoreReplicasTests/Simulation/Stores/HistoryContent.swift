#if Datasets
  import EntityStore
  import LodestoreFormat

  /// The records of the histories' stores.
  enum HistoryContent {
    /// Makes the changes of one write: a note that stays, and another change.
    static func change(_ serial: Int, _ kind: Int, _ tx: inout WriteTransaction) throws {
      try tx.insert(Note(title: "note \(serial)", number: serial))
      let first = try tx.fetch(Note.where { $0.number < 0 }.sorted(by: \.number).limit(1)).first
      switch kind {
      case 0: try tx.insert(Note(title: "change \(serial)", number: -serial))
      case 1:
        if var note = first {
          note.title += "+"
          try tx.update(note)
        }
      case 2: if let first { try tx.delete(Note.where { $0.number == first.number }) }
      case 3: try tx.put("\(serial)", for: "last", in: "settings")
      default: break
      }
    }

    /// The numbers of the notes that stay.
    static func serials(of store: Store) throws -> [Int] {
      try store.read { try $0.fetch(Note.where { $0.number > 0 }.sorted(by: \.number)) }
        .map(\.number)
    }

    /// The digests of all content but the library's.
    static func digests(of store: Store) throws -> ReplayDigests {
      try store.read { try $0.replayFacts().digests }
    }
  }
#endif
