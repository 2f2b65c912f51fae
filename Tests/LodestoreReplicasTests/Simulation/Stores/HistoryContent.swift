#if Datasets
  import EntityStore
  import LodestoreFormat

  /// A record that a later version of the program has.
  struct HistoryLabel: Entity {
    var id = RecordID<HistoryLabel>()
    var number: Int

    struct Attributes: Sendable {
      var id: Attribute<HistoryLabel, RecordID<HistoryLabel>> { .recordID }
      var number: Attribute<HistoryLabel, Int> { .init(0) }
    }

    static var attributes: Attributes { Attributes() }

    static let schema = EntitySchema<HistoryLabel>(
      "Label", attributes: [.init("number", \.number)])

    init(number: Int) { self.number = number }

    func encode(into writer: inout RecordWriter) { writer.write(number) }

    init(from reader: inout RecordReader) throws(StoreError) { number = try reader.read() }
  }

  /// The records of the histories' stores.
  enum HistoryContent {
    /// Makes the changes of one write: a note that stays, and another change.
    ///
    /// The kind 5 is only for stores with labels.
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
      case 5: try tx.insert(HistoryLabel(number: serial))
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
