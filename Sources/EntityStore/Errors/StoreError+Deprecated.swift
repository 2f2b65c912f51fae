// Deprecated names of version 0.1.0 of the library.

extension StoreError.Code {
  /// The former name of ``deleteDenied``.
  @available(*, deprecated, renamed: "deleteDenied")
  public static var denied: StoreError.Code { .deleteDenied }

  /// The former name of ``invalidID``.
  @available(*, deprecated, renamed: "invalidID")
  public static var identity: StoreError.Code { .invalidID }
}
