#if canImport(CryptoKit)
  internal import CryptoKit
#elseif Datasets
  internal import Crypto
#endif
#if Datasets
  internal import CZstd
#endif
