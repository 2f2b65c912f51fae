internal import LodestoreFormat

extension StoreError {
  // MARK: Sealed files

  static func sealed(_ label: String, _ seal: SealDescription?) -> StoreError {
    let generation = seal.map { ", generation \($0.generation) of '\($0.name)'" } ?? ""
    return StoreError(
      .sealed,
      "cannot write \(label): it is a sealed file\(generation), which nobody changes; keep records of "
        + "your own in a store beside it")
  }

  static func notSealed(_ path: String) -> StoreError {
    StoreError(
      .notSealed,
      "cannot read the seal of '\(path)': it is not a sealed file; make one by 'kvdump seal'")
  }

  static func badDatasetName(_ name: String) -> StoreError {
    StoreError(
      .invalidValue,
      "cannot seal the store as '\(name)': the name of a dataset is 1 to 64 ASCII letters, digits, '.', "
        + "'-' and '_', the first a letter or digit")
  }

  static func badGeneration(_ generation: UInt64) -> StoreError {
    StoreError(
      .invalidValue,
      "cannot seal the store as generation \(generation): generations are from 1 to 2^63 - 1")
  }

  static func badSealDate() -> StoreError {
    StoreError(.invalidValue, "cannot seal the store: one of its dates is not a finite number")
  }

  /// - Parameter part: the unknown part of the file, as `the tree 'x'`.
  static func unknownPart(_ part: String) -> StoreError {
    StoreError(
      .newerFormat,
      "cannot seal the store: \(part) is of a later version of the library, and this one does not know "
        + "whether others may see it; update the library")
  }

  static func missingInSealed(_ name: String) -> StoreError {
    StoreError(
      .unknownEntity,
      "cannot open the sealed file with \(name): it does not have that entity; leave the entity out, or use "
        + "a generation that has it", entity: name)
  }

  static func evolutionInSealed(_ name: String) -> StoreError {
    StoreError(
      .incompatibleSchema,
      "cannot open the sealed file with \(name): its declared attributes or indexes are not those of the "
        + "file, and nobody changes a sealed file; declare what the file has, or use a generation that was "
        + "sealed with this schema", entity: name)
  }

  static func upgradeInSealed(_ name: String) -> StoreError {
    StoreError(
      .incompatibleSchema,
      "cannot open the sealed file with \(name): an earlier version of the library wrote its ids of records "
        + "as documents; open the store that it was made of for writing once, and seal it again",
      entity: name)
  }
}
