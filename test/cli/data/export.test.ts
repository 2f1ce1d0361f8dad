import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { type ExportOptions, runExport } from '../../../src/cli/data/export.ts'
import { OutputFault } from '../../../src/lib/process/output.ts'
import type { SeriesIdentity } from '../../../src/topics/catalogue/math/lookup.ts'
import { catalogue } from '../../support/topics/shipped-codes.ts'

const folder = mkdtempSync(join(tmpdir(), 'wellhead-cli-export-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const stored = ['BRENT_CRUDE_USD', 'EUR_USD', 'WTI_USD']

async function run(codes: string[], options: ExportOptions = {}, out?: (text: string) => void) {
  let text = ''
  const err: string[] = []
  const pages = (series: readonly SeriesIdentity[] | undefined) =>
    (series?.map(listed => listed.code) ?? stored).map(code => [
      { code, observedAt: 0, value: 1, currency: 'USD' },
    ])
  const print = (part: string) => {
    text += part
  }
  const code = await runExport(codes, options, {
    out: out ?? print,
    err: line => err.push(line),
    catalogue,
    pages,
  })
  return { code, text, err: err.join('\n') }
}

const codesIn = (text: string) =>
  text
    .trim()
    .split('\n')
    .slice(1)
    .map(line => line.split(',')[0])

test('without codes everything goes to standard output, and nothing else does', async () => {
  const { code, text, err } = await run([])
  expect({ code, codesIn: codesIn(text), err }).toEqual({ code: 0, codesIn: stored, err: '' })
})

test('codes and aliases are exported once each, in the order of the codes', async () => {
  expect(codesIn((await run(['WTI', 'brent', 'WTI_USD'])).text)).toEqual([
    'BRENT_CRUDE_USD',
    'WTI_USD',
  ])
})

test('the export format is the requested one and otherwise follows the file name', async () => {
  expect((await run([], { format: 'ndjson' })).text).toStartWith('{"code":"BRENT_CRUDE_USD"')
  const output = join(folder, 'all.ndjson.gz')
  const { code, err } = await run([], { output })
  expect({ code, err }).toEqual({ code: 0, err: `${output}: 3 rows` })
  expect(gunzipSync(readFileSync(output)).toString()).toStartWith('{"code":"BRENT_CRUDE_USD"')
})

const refused: [string, string[], ExportOptions, string][] = [
  ['an unknown code', ['WTI_UDS'], {}, 'export: Unknown code "WTI_UDS". Did you mean WTI_USD?'],
  [
    'an unknown format',
    [],
    { format: 'xml' },
    'export: --format must be csv or ndjson; got "xml".',
  ],
  [
    'a folder that is not there',
    [],
    { output: join(folder, 'no', 'a.csv') },
    'export: Cannot open ',
  ],
]
test.each(refused)(
  'export ends with 1 and writes nothing for %s',
  async (_, codes, options, message) => {
    const { code, text, err } = await run(codes, options)
    expect({ code, text }).toEqual({ code: 1, text: '' })
    expect(err).toContain(message)
  },
)

test('an export to a closed pipe succeeds, and any other output error fails it', async () => {
  const closed = (name: string) => () => {
    throw new OutputFault('Standard output', Object.assign(new Error(name), { code: name }))
  }
  expect(await run([], {}, closed('EPIPE'))).toMatchObject({ code: 0, err: '' })
  expect(await run([], {}, closed('ENOSPC'))).toMatchObject({
    code: 1,
    err: 'export: Standard output cannot be written: the disk is full.',
  })
})
