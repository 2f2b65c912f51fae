import LodestoreBytes
import LodestoreFormat
import Testing

@Suite struct FormatVersionTests {
  /// The rows of the table in Format.md, "Version history": version, lowest reader, lowest writer.
  private var rows: [[UInt32]] {
    let text = FormatExamples.text
    guard let heading = text.firstMatch(of: /\n## [0-9]+ Version history\n/)?.range,
      let section = text[heading.upperBound...].split(separator: "\n## ").first
    else { return [] }
    return section.split(separator: "\n").compactMap { line in
      guard line.hasPrefix("| "), !line.hasPrefix("| version"), !line.hasPrefix("| ---") else {
        return nil
      }
      let cells = line.split(separator: "|").compactMap { UInt32($0.filter { $0 != " " }) }
      return cells.count == 3 ? cells : nil
    }
  }

  @Test func `every feature is in the document with its versions`() {
    let expected = FormatFeature.allCases.map { feature in
      let requirement = feature.requirement
      return [
        max(requirement.lowestReader, requirement.lowestWriter), requirement.lowestReader,
        requirement.lowestWriter,
      ]
    }
    #expect(rows == expected)
    #expect(Set(rows.map { $0[0] }) == Set(FormatVersion.allCases.map(\.rawValue)))
    #expect(FormatVersion.allCases.max() == .current)
    #expect(FormatExamples.text.hasPrefix("# The Lodestore file format, version 8\n"))
    #expect(FormatVersion.current.rawValue == 8)
  }

  @Test func `a requirement is the highest of the features`() {
    let base = FormatFeature.base.requirement
    #expect(FormatRequirement(of: []) == base)
    #expect(FormatRequirement(of: [.base]) == base)
    #expect(FormatRequirement(of: FormatFeature.allCases).lowestWriter == 8)
    let mixed = FormatRequirement(lowestReader: 1, lowestWriter: 9)
    let other = FormatRequirement(lowestReader: 4, lowestWriter: 2)
    #expect(mixed.raised(to: other) == FormatRequirement(lowestReader: 4, lowestWriter: 9))
    #expect(mixed.raised(to: mixed) == mixed)
  }

  @Test func `a description uses ids also of removed attributes`() {
    let stored = [RecordLayout.Attribute(number: 1, type: .int8, isOptional: false)]
    var entity = EntityDescription(
      number: 1, name: "E",
      attributes: [.init(number: 1, name: "a", type: .int8, isOptional: false)],
      layouts: [RecordLayout(number: 1, attributes: stored)], currentLayout: 1, indexes: [])
    #expect(entity.features == [.base])
    entity.attributes.append(
      .init(number: 2, name: "b", type: .recordID, isOptional: true, isRemoved: true))
    #expect(entity.features == [.base, .recordIDAttribute])
  }

  @Test func `only numbers that a record can have are ids`() throws {
    for (value, fits) in [
      (Value.integer(1), true), (.integer(.max), true), (.integer(0), false),
      (.integer(-1), false), (.unsigned(1 << 63), false), (.double(1), false), (.null, false),
      (.string("1"), false),
    ] {
      #expect(value.fits(.recordID) == fits, "\(value)")
    }
    let layout = RecordLayout(
      number: 1, attributes: [.init(number: 1, type: .recordID, isOptional: false)])
    for number in [0, 1 << 63, UInt64.max] {
      let content = littleEndianBytes(UInt16(1)) + littleEndianBytes(number)
      let checksum = content._withBytes { Checksum.record(id: 1, body: $0) }
      try (content + littleEndianBytes(checksum))._withBytes { bytes in
        let view = try RecordView(bytes, layout: layout)
        let error = #expect(throws: FormatError.self) { try view.validate(id: 1) }
        #expect("\(String(describing: error))".contains("an id is \(number), must be from 1 to"))
      }
    }
  }
}
