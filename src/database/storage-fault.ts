const storageFaults =
  /^(?:SQLITE_(?:FULL|BUSY|LOCKED|IOERR|READONLY|CANTOPEN)|(?:ENOSPC|EDQUOT|EIO|EROFS)$)/

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

/** The disk is full, failing or held by another process: the same work may succeed later. */
export const isStorageFault = (error: unknown): boolean => storageFaults.test(codeOf(error))

/** The reason why writes fail, to follow "the data cannot be written: ". */
export function storageFaultOf(error: unknown): { isFull: boolean; reason: string } | undefined {
  const code = codeOf(error)
  if (!storageFaults.test(code)) return undefined
  if (/FULL|ENOSPC|EDQUOT/.test(code)) return { isFull: true, reason: 'the disk is full' }
  if (/BUSY|LOCKED/.test(code))
    return { isFull: false, reason: 'another process holds the database' }
  if (/READONLY|EROFS/.test(code))
    return { isFull: false, reason: 'the database may not be written' }
  return { isFull: false, reason: `the disk fails (${code})` }
}

/** There is no room for writes that can wait. */
export class StorageFull extends Error {
  readonly code = 'SQLITE_FULL'
}
