import type { GuardedColumn } from '../../../feeds/files/dataset.ts'

/** A contract may settle at one price for days. */
export const futuresPrice: GuardedColumn = { mayRepeat: true }
