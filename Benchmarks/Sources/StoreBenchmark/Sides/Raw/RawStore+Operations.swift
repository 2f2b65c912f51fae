import CRecords

extension RawStore {
  func work(_ operation: Operation) -> Work? {
    let engine = side.engine
    let workload = side.workload
    let pods = workload.rawPods
    let wanted = workload.wanted
    switch operation {
    case .insert:
      return timed { engine.insert_pods($0, pods.base, workload.pods.count, $1) }
    case .insertItems:
      return timed { engine.insert_items($0, workload.rawItems.base, workload.items.count, $1) }
    case .itemsByDate:
      return engine.items_by_date.map { body in timed { body($0, $1) } }
    case .insertMemory:
      return .figure {
        try AnonymousMemory.growth {
          try self.answer { engine.insert_pods($0, pods.base, workload.pods.count, $1) }
        }
      }
    default:
      // An engine that only shows another way of inserting does not have the other operations.
      guard engine.upsert_pods != nil else { return nil }
    }
    switch operation {
    case .upsert:
      return timed { engine.upsert_pods($0, workload.rawUpserts.base, workload.upserts.count, $1) }
    case .updateBool: return timed { engine.update_deprecated($0, $1) }
    case .deleteIn:
      return timed { store, answer in
        self.places(workload.inPlaces) {
          engine.delete_names(store, pods.base, $0.baseAddress, $0.count, answer)
        }
      }
    case .deleteDates:
      let dates = workload.tenth.seconds
      return timed { engine.delete_dates($0, dates.lowerBound, dates.upperBound, $1) }
    case .getUnique:
      return timed { engine.get_unique($0, pods.base, wanted, wanted.count, $1) }
    case .getID: return timed { engine.get_ids($0, wanted, wanted.count, $1) }
    case .multiGet:
      return timed { store, answer in
        self.places(workload.manyPlaces) {
          engine.multi_get(store, pods.base, $0.baseAddress, $0.count, answer)
        }
      }
    case .fetchAll: return timed { engine.fetch_all($0, $1) }
    case .fetchTwo: return timed { engine.fetch_two($0, $1) }
    case .dateRanges:
      let lower = workload.ranges.map(\.seconds.lowerBound)
      let upper = workload.ranges.map(\.seconds.upperBound)
      return timed { engine.fetch_ranges($0, lower, upper, lower.count, $1) }
    case .scanNumbers:
      let date = workload.noDate.timeIntervalSinceReferenceDate
      return timed { engine.count_numbers($0, workload.downloads, date, $1) }
    case .scanText:
      return timed { store, answer in
        var license = workload.license
        return license.withUTF8 { text in
          text.withMemoryRebound(to: CChar.self) {
            engine.count_license(
              store, raw_text(bytes: $0.baseAddress, length: UInt32($0.count)), answer)
          }
        }
      }
    case .countDates:
      let dates = workload.tenth.seconds
      return timed { engine.count_dates($0, dates.lowerBound, dates.upperBound, $1) }
    case .idsIn:
      return timed { store, answer in
        self.places(workload.inPlaces) {
          engine.ids_of_names(store, pods.base, $0.baseAddress, $0.count, answer)
        }
      }
    case .namesIn:
      return timed { store, answer in
        self.places(workload.inPlaces) {
          engine.fetch_names(store, pods.base, $0.baseAddress, $0.count, answer)
        }
      }
    case .top: return timed { engine.top_downloads($0, 50, $1) }
    case .firstPages:
      return timed { store, answer in
        for _ in 0..<Amounts.firstPages {
          raw_clear_answer(answer)
          let code = engine.newest(store, 50, answer)
          if code != 0 { return code }
        }
        return 0
      }
    case .singleInserts, .taskInserts, .gets, .getsBesideWriter:
      return concurrentWork(operation, workload)
    default: return nil
    }
  }

  private func places(
    _ places: ArraySlice<UInt32>, _ body: (UnsafeBufferPointer<UInt32>) -> Int32
  ) -> Int32 {
    places.withUnsafeBufferPointer(body)
  }
}

extension RawStore: ConcurrentStore {
  func insertSingle(_ place: Int) throws { try insert(place) }

  func writeBatch(_ batch: Range<Int>) throws {
    let upserts = side.workload.rawUpserts
    try answer {
      side.engine.upsert_pods($0, upserts.base + batch.lowerBound, batch.count, $1)
    }
  }

  func gets(_ places: [UInt32]) throws {
    let reader = try reader()
    defer { reader.close() }
    try reader.answer { store, _ in
      withUnsafePointer(to: side.engine) {
        raw_get_each($0, store, side.workload.rawPods.base, places, places.count)
      }
    }
  }
}
