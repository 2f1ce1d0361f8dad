/** The compression of Parquet pages: Snappy is for readers without Zstandard. */
export const parquetCompressions = ['zstd', 'snappy'] as const
export type ParquetCompression = (typeof parquetCompressions)[number]
