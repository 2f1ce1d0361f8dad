const storageFaults = /^SQLITE_(FULL|BUSY|LOCKED|IOERR|READONLY|CANTOPEN)/

/** The disk is full, failing or held by another process: the same work may succeed later. */
export const isStorageFault = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  typeof error.code === 'string' &&
  storageFaults.test(error.code)
