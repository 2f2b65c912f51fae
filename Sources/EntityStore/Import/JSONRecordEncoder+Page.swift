internal import LodestoreFormat

extension JSONRecordEncoder {
  /// Appends `records` to `page`; records that do not fit the entity are rejected.
  ///
  /// - Parameters:
  ///   - index: the unique index by which records are matched. A record with a null in its key is
  ///     rejected: nulls do not collide in a unique index, so every import would insert it again.
  ///   - sizeLimit: the maximum size of a record in bytes.
  func take(
    _ records: some Sequence<JSONRecord>, matching index: [UInt32]?, isPart: Bool, sizeLimit: Int,
    into page: inout DecodedPage
  ) {
    for (number, record) in records.enumerated() {
      do throws(RecordRejection) {
        let node = record.node
        if let fault = node.faultRejection { throw fault }
        try read(record)
        try add(
          node.index, of: node.document, number: number + 1, matching: index, isPart: isPart,
          sizeLimit: sizeLimit, to: &page)
      } catch {
        reject(number + 1, error, in: &page)
      }
    }
    finish(&page)
  }

  /// Appends the elements of an array, or the values of an object's members, to `page` as records.
  func take(
    elementsOf array: JSONNode, matching index: [UInt32]?, isPart: Bool, sizeLimit: Int,
    into page: inout DecodedPage
  ) {
    let document = array.document
    let tape = document.reader
    begin(document)
    let end = Int(tape.entries[array.index].link)
    var next = array.index + 1
    // The key of an object's member precedes its value on the tape.
    let lead = array.kind == .object ? 1 : 0
    var number = 0
    while next < end {
      let record = next &+ lead
      next = tape.next(after: record)
      number += 1
      do throws(RecordRejection) {
        if document.hasFaults,
          let fault = JSONNode(document: document, index: record).faultRejection
        {
          throw fault
        }
        try readObject(record, tape)
        try add(
          record, of: document, number: number, matching: index, isPart: isPart,
          sizeLimit: sizeLimit, to: &page)
      } catch {
        reject(number, error, in: &page)
      }
    }
    page.findLines(in: document)
    finish(&page)
  }

  private func finish(_ page: inout DecodedPage) {
    page.unknownMembers += takeUnknownMembers()
    page.warnings += takeWarnings()
  }

  /// Appends the record that was read last, the one at entry `record` of `document`.
  @inline(__always)
  private func add(
    _ record: Int, of document: JSONDocument, number: Int, matching index: [UInt32]?,
    isPart: Bool, sizeLimit: Int, to page: inout DecodedPage
  ) throws(RecordRejection) {
    let tape = document.reader
    if let index, let rejection = missingKey(index, in: record, tape) { throw rejection }
    let content = try content(of: record, tape, isPart: isPart)
    let offset = document.origin.offset + document.offset(ofEntry: record)
    let size = content.count + RecordLayout.checksumSize
    guard size <= sizeLimit else {
      throw RecordRejection(
        "the record has \(size) bytes, the limit is \(sizeLimit); raise recordSizeLimitInBytes",
        offset: offset)
    }
    page.append(
      content, at: .init(record: number, byteOffset: offset), given: isPart ? isGiven : isDeclared)
  }

  private func reject(_ number: Int, _ error: RecordRejection, in page: inout DecodedPage) {
    page.reject(
      .init(record: number, byteOffset: error.offset), attribute: error.attribute,
      reason: error.reason, content: error.content)
  }
}
