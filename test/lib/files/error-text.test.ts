import { expect, test } from 'bun:test'
import { errorText } from '../../../src/lib/files/error-text.ts'

test('an error of the system names what could not be written and why, and no code', () => {
  const full = new Error(
    "ENOSPC: no space left on device, copyfile '/data/a.db' -> '/backups/a.db'",
  )
  expect(errorText(full)).toBe('Cannot write /backups/a.db: the disk is full.')
  const gone = new Error("ENOENT: no such file or directory, copyfile '/no/a.db' -> '/tmp/a.db'")
  expect(errorText(gone)).toBe('Cannot read /no/a.db: it does not exist.')
  const closed = new Error("EACCES: permission denied, open '/etc/shadow'")
  expect(errorText(closed)).toBe('Cannot open /etc/shadow: permission denied.')
  const unnamed = new Error('EISDIR: illegal operation on a directory, read')
  expect(errorText(unnamed)).toBe('Cannot read: it is a directory.')
  const other = new Error('a sentence of this program')
  expect(errorText(other)).toBe(other.message)
})
