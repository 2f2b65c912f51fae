import LodestoreFormat

@testable import EntityStore

/// A sink that asks for all facts about each change, and reads them.
final class ReadingSink: ChangeSink {
  let name = "a reader"
  private var byteCount = 0

  func interest(in _: StoredEntity) -> ChangeInterest? {
    [.oldRecord, .newRecord, .attributes, .eachRemoval]
  }

  func record(_ change: RecordChange, of _: StoredEntity) {
    switch change {
    case .inserted, .cleared: break
    case .insertedRecord(_, let new): read(new)
    case .updated(_, let old, let new, _):
      if let old { read(old) }
      if let new { read(new) }
    case .removed(_, let old): if let old { read(old) }
    }
  }

  private func read(_ view: RecordView) {
    for slot in view.layout.slots where slot.type.isVariable {
      byteCount += view.variableBytes(slot).count
    }
  }
}
