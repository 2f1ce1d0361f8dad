import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { generateSource } from 'oazapfts'
import { documentText } from './clients/document.ts'

/**
 * Writes a TypeScript client into a directory: `openapi.json`, and `index.ts` with one function for
 * each operation, typed by it. It runs on `@oazapfts/runtime`; `defaults.baseUrl` and
 * `defaults.headers.Authorization` set the server and the key.
 */
const [directory = 'dist/client', address] = process.argv.slice(2)
const out = resolve(directory)
mkdirSync(out, { recursive: true })
const documentPath = join(out, 'openapi.json')
writeFileSync(documentPath, await documentText(address))
writeFileSync(join(out, 'index.ts'), await generateSource(documentPath))
process.stdout.write(`${join(out, 'index.ts')}\n`)
process.exit(0)
