internal import LodestoreFormat

// Rules over derived attributes are checked at the end of a transaction, and the error does not
// identify the record of the import. Trial transactions find the record: each writes the first
// records of a page and is aborted.

extension ImportEngine {
  /// The position of the first record of a page that breaks a rule over derived attributes.
  ///
  /// Returns `nil` when the records of the page break no rule.
  ///
  /// - Complexity: O(log *n*) transactions, which are aborted.
  func firstBreaking(
    _ page: DecodedPage, _ known: PageRefusals?, after state: ImportState
  ) throws -> Int? {
    let known = known ?? PageRefusals(page: page.number)
    let left = StoreError(.invalidValue, "cannot store a record: it is left out of a trial")
    /// Returns whether the first `count` records of the page break a rule.
    func isBroken(byFirst count: Int) throws -> Bool {
      var refusals = known
      for row in count..<page.batch.count where refusals.refused[row] == nil {
        refusals.refused[row] = left
      }
      return try self.isBroken(page, refusals, after: state)
    }
    guard page.batch.count > 0, try !isBroken(byFirst: 0) else { return nil }
    var (sound, broken) = (0, page.batch.count)
    while broken - sound > 1 {
      let middle = (sound + broken) / 2
      if try isBroken(byFirst: middle) { broken = middle } else { sound = middle }
    }
    return broken - 1
  }

  /// Thrown to abort a trial transaction in which no rule is broken.
  private struct TrialPassed: Error {}

  /// Returns whether writing a page without its refused records breaks a rule over derived
  /// attributes.
  private func isBroken(
    _ page: DecodedPage, _ refusals: PageRefusals, after state: ImportState
  ) throws -> Bool {
    var refusals = refusals
    while true {
      do {
        try core.write(origin: origin) { (core) -> Void in
          let destination = try self.destination(in: core)
          var result = WriteResult(state: state)
          var remembered = RememberedLinks.ByPage([Int](), linkCount: links.count)
          var (batch, _) = try records(
            of: CollectionOfOne(page), for: destination.entity)
          _ = try merge(
            page, records: &batch, into: destination, known: refusals, result: &result,
            remembered: &remembered)
          try core.endChanges()
          throw TrialPassed()
        }
      } catch is TrialPassed {
        return false
      } catch let error as StoreError where error.isOfLateRule {
        return true
      } catch let found as PageRefusals {
        refusals.add(found)
      }
    }
  }
}
