/** How pages of Parquet are packed: readers without Zstandard have Snappy. */
export const parquetCompressions = ['zstd', 'snappy'] as const
export type ParquetCompression = (typeof parquetCompressions)[number]
