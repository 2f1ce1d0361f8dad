import { mkdirSync } from 'node:fs'
import { writeAssets } from './assets.ts'
import { compile } from './compile.ts'
import { writeNotices } from './notices.ts'

/** Builds the one binary, for this machine. */
mkdirSync('dist', { recursive: true })
const assets = await writeAssets('dist')
const exitCode = compile('dist/wellhead', assets)
// Anyone who passes the binary on passes these on with it.
if (exitCode === 0) writeNotices('dist/wellhead.notices.txt')
process.exit(exitCode)
