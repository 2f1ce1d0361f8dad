import { mkdirSync } from 'node:fs'
import { compile } from './compile.ts'
import { writeDocument } from './document.ts'
import { writeFirstDatabase } from './first-database.ts'
import { writeNotices } from './notices.ts'
import { writeImage } from './world-image.ts'

/** Builds the one binary, for this machine. */
mkdirSync('dist', { recursive: true })
const assets = [
  await writeImage('dist'),
  await writeFirstDatabase('dist'),
  await writeDocument('dist'),
]
const exitCode = compile('dist/wellhead', assets)
// Whoever passes the binary on passes these on with it.
if (exitCode === 0) writeNotices('dist/wellhead.notices.txt')
process.exit(exitCode)
